package publish_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/samplefiles"
	"github.com/weirkeeper/weirkeeper/publish"
	"github.com/weirkeeper/weirkeeper/publish/reader"
)

// tree writes files below a new folder; an empty content is a folder.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, content := range files {
		path := filepath.Join(folder, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		if content == "" {
			require.NoError(t, os.MkdirAll(path, 0o700))
			continue
		}
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	}
	return folder
}

func newFiles(t *testing.T) *publish.Files {
	t.Helper()
	files := publish.NewFiles(t.Context())
	t.Cleanup(func() { require.NoError(t, files.Close()) })
	return files
}

func walk(t *testing.T, files *publish.Files, folder string) (sources []publish.Source, names, refused []string) {
	t.Helper()
	relative := func(path string) string {
		name, err := filepath.Rel(folder, path)
		require.NoError(t, err)
		return name
	}
	for source, err := range files.Walk(folder) {
		if err != nil {
			var input *publish.InputError
			require.ErrorAs(t, err, &input)
			refused = append(refused, relative(input.Source))
			continue
		}
		require.True(t, source.Found())
		sources, names = append(sources, source), append(names, relative(source.Name()))
	}
	return sources, names, refused
}

func TestWalkingAFolder(t *testing.T) {
	folder := tree(t, map[string]string{
		"b.txt": "B", "a/c.md": "C", "a/d/e.html": "E", "a/.hidden.txt": "x", ".git/f.txt": "x", "g.png": "x", "empty": "",
	})
	elsewhere := tree(t, map[string]string{"h.txt": "H"})
	for link, target := range map[string]string{"a/up": "..", "a/self": ".", "there": elsewhere, "there2": elsewhere, "z.txt": filepath.Join(folder, "b.txt"), "y.txt": "nowhere"} {
		require.NoError(t, os.Symlink(target, filepath.Join(folder, link)))
	}
	_, names, refused := walk(t, newFiles(t), folder)
	require.Equal(t, []string{"a/c.md", "a/d/e.html", "b.txt", "there/h.txt", "z.txt"}, names)
	require.Equal(t, []string{"g.png", "y.txt"}, refused)
}

func TestWalkingEndsWithTheContext(t *testing.T) {
	folder := tree(t, map[string]string{"a.txt": "A", "b.txt": "B"})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	files := publish.NewFiles(ctx)
	var last error
	for _, err := range files.Walk(folder) {
		last = err
		cancel()
	}
	require.ErrorIs(t, last, context.Canceled)
}

// What a folder holds is published but for what cannot be, of which nothing is:
// also not the good lines before a bad one.
func TestPlanLeavesOutWhatAFolderHolds(t *testing.T) {
	folder := tree(t, map[string]string{
		"a.txt": "Ada.", "b.txt": "caf\xe9", "c.jsonl": "{\"text\":\"Good.\"}\n{\"txt\":\"Bad.\"}", "d.docx": string(samplefiles.Zip()),
		"e.jsonl": "{\"document_id\":\"d\",\"text\":\"One.\"}", "f.jsonl": "{\"document_id\":\"d\",\"text\":\"Two.\"}", "g.txt": "Ada.",
	})
	sources, _, _ := walk(t, newFiles(t), folder)
	config := planConfig(t)
	var read []int
	config.OnRead = func(n int) { read = append(read, n) }
	plan, err := publish.NewPlan(config, sources)
	require.NoError(t, err)
	require.Len(t, plan.Documents, 2)
	require.Equal(t, 2, plan.Chunks)
	require.Equal(t, []int{1, 2, 3, 4, 5, 6, 7}, read)
	var refused []string
	for _, r := range plan.Refused {
		refused = append(refused, filepath.Base(r.Source))
	}
	require.Equal(t, []string{"b.txt", "c.jsonl", "d.docx", "f.jsonl"}, refused)
	require.ErrorIs(t, plan.Refused[2], reader.ErrMislabeled)
}

// What was extracted when it was checked is what is sent, whatever becomes of the
// file.
func TestExtractedTextIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.docx")
	require.NoError(t, os.WriteFile(path, samplefiles.Word("T", samplefiles.Heading("One")+samplefiles.Paragraph("Ada.")), 0o600))
	source, err := newFiles(t).Open(path)
	require.NoError(t, err)
	first, err := readAll(source)
	require.NoError(t, err)
	require.Equal(t, "T", first[0].Document.Title)
	require.Equal(t, path, first[0].Document.URI)
	require.NoError(t, os.WriteFile(path, []byte("x"), 0o600))
	second, err := readAll(source)
	require.NoError(t, err)
	require.Equal(t, first, second)
}
