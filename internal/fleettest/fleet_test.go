package fleettest

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/natsconn"
	"github.com/weirkeeper/weirkeeper/resilience"
)

const processes = 8

// model is a server that keeps every call waiting until it is released.
type model struct {
	*httptest.Server
	arrived chan int // process ids, in the order of arrival
	calls   atomic.Int64
	release chan struct{}
}

func startModel(t *testing.T) *model {
	m := &model{arrived: make(chan int, 1<<16), release: make(chan struct{})}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.calls.Add(1)
		pid, _ := strconv.Atoi(r.Header.Get("Pid"))
		select {
		case m.arrived <- pid:
		default:
		}
		select {
		case <-m.release:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(m.Close)
	return m
}

// next is the process whose call arrives next.
func (m *model) next(t *testing.T, within time.Duration) (pid int, after time.Duration) {
	t.Helper()
	start := time.Now()
	select {
	case pid = <-m.arrived:
		return pid, time.Since(start)
	case <-time.After(within):
		t.Fatalf("no call arrived within %v", within)
		return 0, 0
	}
}

// quiet asserts that no further call arrives for a while.
func (m *model) quiet(t *testing.T, during time.Duration) {
	t.Helper()
	select {
	case <-m.arrived:
		t.Fatal("one call too many")
	case <-time.After(during):
	}
}

type process struct {
	*exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

func (p *process) tell(t *testing.T, word string) {
	t.Helper()
	_, err := io.WriteString(p.in, word+"\n")
	require.NoError(t, err)
}

func (p *process) hears(t *testing.T, word string) {
	t.Helper()
	require.True(t, p.out.Scan(), "the process has ended")
	require.Equal(t, word, p.out.Text())
}

type fleet struct {
	*model
	breaker   *resilience.Breaker // of this process
	processes map[int]*process
}

func startFleet(t *testing.T, probes int, recovery, lease time.Duration) *fleet {
	server, err := natsconn.StartEmbedded(natsconn.EmbeddedOptions{StoreDir: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	conn, err := server.Connect(natsconn.Options{})
	require.NoError(t, err)
	t.Cleanup(conn.Close)
	f := &fleet{model: startModel(t), processes: make(map[int]*process)}
	f.breaker, err = openBreaker(conn, probes, recovery, lease)
	require.NoError(t, err)

	for range processes {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), envNATS+"="+server.URL(), envServer+"="+f.URL,
			envProbes+"="+strconv.Itoa(probes), envRecovery+"="+recovery.String(), envLease+"="+lease.String())
		cmd.Stderr = os.Stderr
		in, err := cmd.StdinPipe()
		require.NoError(t, err)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		p := &process{cmd, in, bufio.NewScanner(out)}
		t.Cleanup(func() {
			in.Close()
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		})
		f.processes[cmd.Process.Pid] = p
	}
	for _, p := range f.processes {
		p.hears(t, "ready")
	}
	return f
}

// trip opens the circuit and sets all processes on it, so that they are all
// asking when it becomes due.
func (f *fleet) trip(t *testing.T) {
	t.Helper()
	p, ok, err := f.breaker.Allow(t.Context())
	require.NoError(t, err)
	require.True(t, ok)
	require.NoError(t, p.Trip(t.Context(), "down"))
	for _, p := range f.processes {
		p.tell(t, "hammer")
	}
}

func (f *fleet) is(t *testing.T, want resilience.State) {
	t.Helper()
	require.Eventually(t, func() bool {
		got, err := f.breaker.State(context.Background())
		return err == nil && got == want
	}, 10*time.Second, 10*time.Millisecond)
}

// R23: exactly so many calls reach the server at recovery, whatever the
// number of processes that have waited for it.
func TestR23FleetAtTheBarrierOfRecovery(t *testing.T) {
	for _, probes := range []int{1, 3} {
		t.Run(strconv.Itoa(probes), func(t *testing.T) {
			const recovery = 3 * time.Second
			// The lease is none of this test's business: a machine so busy that a prober
			// cannot renew it must not free a probe.
			f := startFleet(t, probes, recovery, time.Minute)
			f.trip(t)
			opened := time.Now()
			f.quiet(t, recovery*3/4)
			for range probes {
				f.next(t, 15*time.Second)
			}
			t.Logf("%d probes after %v", probes, time.Since(opened).Round(time.Millisecond))
			f.quiet(t, recovery)
			f.is(t, resilience.HalfOpen)
			require.EqualValues(t, probes, f.calls.Load())

			close(f.release)
			f.is(t, resilience.Closed)
			for range 50 { // everybody goes on
				f.next(t, 10*time.Second)
			}
		})
	}
}

// A prober that is killed delays recovery by at most one lease, and one
// other takes its place.
func TestFleetWithAProberKilled(t *testing.T) {
	const lease = 3 * time.Second
	f := startFleet(t, 1, lease, lease)
	f.trip(t)
	prober, _ := f.next(t, 15*time.Second)
	require.NoError(t, f.processes[prober].Process.Kill())
	second, after := f.next(t, 15*time.Second)
	require.NotEqual(t, prober, second)
	// The lease began at most a third of itself before the kill. What comes on top
	// of it is only the time that a busy machine takes.
	t.Logf("recovered %v after the kill, the lease is %v", after.Round(time.Millisecond), lease)
	require.GreaterOrEqual(t, after, lease/2)
	require.LessOrEqual(t, after, lease+3*time.Second)
	f.quiet(t, lease/2)
	close(f.release)
	f.is(t, resilience.Closed)
}

// Failures that many processes record at the same time all count.
func TestFleetLosesNoFailure(t *testing.T) {
	f := startFleet(t, 1, time.Minute, time.Minute)
	for _, p := range f.processes {
		p.tell(t, "fail")
	}
	for _, p := range f.processes {
		p.hears(t, "done")
	}
	s, err := f.breaker.Snapshot(t.Context())
	require.NoError(t, err)
	require.Equal(t, 5*processes, s.Failures)
}
