package browser

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"testing"
	"time"
)

// patience is far above the second or two that a browser takes.
const patience = 2 * time.Minute

// Path is where Chromium is. Without one the test is skipped, unless
// WEIR_TEST_BROWSER is "required", as in a gate that has installed it.
func Path(t testing.TB) string {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a browser; left out of -short")
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chromium-headless-shell"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("WEIR_TEST_BROWSER") == "required" {
		t.Fatal("no Chromium is installed, and WEIR_TEST_BROWSER says that it is required")
	}
	t.Skip("no Chromium is installed (apt-get install chromium): the page was not tried in a browser")
	return ""
}

// Command is a headless Chromium with a profile that goes with the test. It is killed
// when the test is over or has waited for it for two minutes.
func Command(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	path, profile := Path(t), t.TempDir()
	all := []string{"--headless", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage", "--user-data-dir=" + profile, "--hide-scrollbars"}
	if os.Geteuid() == 0 {
		all = append(all, "--no-sandbox") // Chromium has none for root
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, path, append(all, args...)...)
	cmd.Env = append(os.Environ(), "HOME="+profile)
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// Start starts a browser for the test, and ends it with the test.
func Start(t testing.TB) *Browser {
	t.Helper()
	cmd := Command(t, "--remote-debugging-pipe", "about:blank")
	// It reads commands from file 3 and answers on file 4.
	hear, commands, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	answers, speak, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.ExtraFiles = []*os.File{hear, speak}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = hear.Close()
	_ = speak.Close()
	b := &Browser{t: t, commands: commands, waiting: map[int]chan reply{}, gone: make(chan struct{})}
	go b.listen(bufio.NewReaderSize(answers, 1<<20))
	t.Cleanup(func() {
		b.leave()
		_ = commands.Close()
		done := make(chan error, 1)
		go func() { done <- cmd.Wait() }()
		select {
		case <-done:
		case <-time.After(10 * time.Second):
			_ = cmd.Process.Kill()
			if err := <-done; err != nil && !errors.As(err, new(*exec.ExitError)) {
				t.Logf("browser: %v\n%s", err, &stderr)
			}
		}
		<-b.gone
		_ = answers.Close()
	})
	return b
}
