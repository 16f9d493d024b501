package secretfile_test

import (
	"bytes"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
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

func TestWarn(t *testing.T) {
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, nil))
	path := write(t, "hunter2")
	secretfile.Warn(logger, "token-file", path)
	secretfile.Warn(logger, "token-file", "")
	require.Empty(t, log.String())
	require.NoError(t, os.Chmod(path, 0o604))
	secretfile.Warn(logger, "token-file", path)
	require.Contains(t, log.String(), "option=token-file file="+path)
	require.NotContains(t, log.String(), "hunter2")
}

// Nobody can change the rights of what a read-only file system has, such as a secret
// that Kubernetes has mounted.
func TestWhatIsMountedReadOnlyIsNotToldOf(t *testing.T) {
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		t.Skip("only Linux tells how a file system is mounted")
	}
	for line := range strings.Lines(string(mounts)) {
		fields := strings.Fields(line)
		if len(fields) < 4 || !slices.Contains(strings.Split(fields[3], ","), "ro") {
			continue
		}
		names := []string{fields[1]}
		if entries, err := os.ReadDir(fields[1]); err == nil {
			for _, e := range entries {
				names = append(names, filepath.Join(fields[1], e.Name()))
			}
		}
		for _, name := range names {
			if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o004 != 0 {
				require.False(t, secretfile.Exposed(name), name)
				return
			}
		}
	}
	t.Skip("nothing is mounted read-only here")
}
