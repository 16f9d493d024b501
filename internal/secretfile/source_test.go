package secretfile_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/secretfile"
)

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestTheLineBreakAtTheEndIsNotPartOfIt(t *testing.T) {
	for _, text := range []string{" hunter2 ", " hunter2 \n", " hunter2 \r\n"} {
		s, err := secretfile.Open(write(t, text))
		require.NoError(t, err)
		got, err := s.Current()
		require.NoError(t, err)
		require.Equal(t, " hunter2 ", got)
	}
}

func TestWhatIsNoSecretIsRefusedWithoutQuotingIt(t *testing.T) {
	for name, c := range map[string]struct{ text, problem string }{
		"empty":     {"", "empty"},
		"blank":     {" \n", "empty"},
		"two lines": {"hunter2\nhunter3\n", "more than one line"},
		"old Mac":   {"hunter2\rhunter3", "more than one line"},
		"not UTF-8": {"hunter2\xff", "not text"},
		"NUL":       {"hunter2\x00", "not text"},
		"huge":      {strings.Repeat("hunter2", 10_000), "too large"},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, c.text)
			_, err := secretfile.Open(path)
			var wrong *secretfile.Error
			require.ErrorAs(t, err, &wrong)
			require.Equal(t, path, wrong.Path)
			require.Contains(t, wrong.Problem, c.problem)
			require.NotContains(t, err.Error(), "hunter")
		})
	}
	_, err := secretfile.Open("/nowhere/secret")
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.EqualError(t, err, "/nowhere/secret: there is no such file")
	_, err = secretfile.Open(t.TempDir())
	require.ErrorContains(t, err, "is a directory")
	require.ErrorContains(t, secretfile.Readable(t.TempDir()), "not a regular file")
	require.ErrorContains(t, secretfile.Readable("/nowhere/secret"), "no such file")
	require.NoError(t, secretfile.Readable(write(t, "x")))
}

func TestARotatedSecretIsSeenAndAMissingOneChangesNothing(t *testing.T) {
	path := write(t, "old\n")
	s, err := secretfile.Open(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, []byte("new\n"), 0o600))
	got, err := s.Current()
	require.NoError(t, err)
	require.Equal(t, "new", got)

	require.NoError(t, os.Truncate(path, 0))
	got, err = s.Current()
	require.Error(t, err)
	require.Equal(t, "new", got)
	require.NoError(t, os.Remove(path))
	got, err = s.Current()
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.Equal(t, "new", got)
}

// As in `--nats-password-file <(pass show nats)`.
func TestAPipeIsReadOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	require.ErrorContains(t, secretfile.Readable(path), "not a regular file")
	go func() { _ = os.WriteFile(path, []byte("hunter2\n"), 0o600) }()
	s, err := secretfile.Open(path)
	require.NoError(t, err)
	for range 2 {
		got, err := s.Current()
		require.NoError(t, err)
		require.Equal(t, "hunter2", got)
	}
	require.False(t, secretfile.Exposed(path))
}

func TestExposed(t *testing.T) {
	path := write(t, "hunter2")
	require.False(t, secretfile.Exposed(path))
	require.NoError(t, os.Chmod(path, 0o640))
	require.False(t, secretfile.Exposed(path))
	require.NoError(t, os.Chmod(path, 0o644))
	require.True(t, secretfile.Exposed(path))
	require.False(t, secretfile.Exposed(path+"-missing"))
}
