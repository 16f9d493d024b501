package consumer

import (
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/natsconn"
	"github.com/weirkeeper/weirkeeper/internal/natstest"
)

// A worker that the operating system stops for longer than a pull waits, or a server
// that is slow, is given messages that nobody waits for any more. They do not lie there
// until the ack wait ends, half a minute by default.
func TestWhatComesAfterItsPullWasGivenUpGoesBackAtOnce(t *testing.T) {
	t.Parallel()
	listens, err := natsconn.StartEmbedded(natsconn.EmbeddedOptions{StoreDir: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(func() { _ = listens.Close() })
	other, err := listens.Connect(natsconn.Options{})
	require.NoError(t, err)
	t.Cleanup(other.Close)
	server, err := jetstream.New(other)
	require.NoError(t, err)
	line := newSlowLine(t, listens.URL())
	nc, err := nats.Connect(line.url)
	require.NoError(t, err)
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	require.NoError(t, err)
	stream, err := server.CreateStream(t.Context(), jetstream.StreamConfig{Name: "S", Subjects: []string{"s"}})
	require.NoError(t, err)
	c, err := stream.CreateConsumer(t.Context(), jetstream.ConsumerConfig{Durable: "C", AckPolicy: jetstream.AckExplicitPolicy, AckWait: time.Hour})
	require.NoError(t, err)
	for _, body := range []string{"1", "2"} {
		_, err = server.Publish(t.Context(), "s", []byte(body))
		require.NoError(t, err)
	}

	late := make(chan string, 2)
	p := newPulls(js, 2, func(m *nats.Msg) { late <- string(m.Data) })
	info := c.CachedInfo()
	line.hold()
	require.ErrorIs(t, p.pull(info, 2, 0, info.Config.AckWait, func(*nats.Msg) { t.Error("nothing can have come") }), errSilent)
	line.release()
	require.ElementsMatch(t, []string{"1", "2"}, []string{<-late, <-late})

	var again []string
	require.NoError(t, p.pull(info, 2, 10*time.Second, info.Config.AckWait, func(m *nats.Msg) {
		meta, err := m.Metadata()
		require.NoError(t, err)
		require.EqualValues(t, 2, meta.NumDelivered)
		again = append(again, string(m.Data))
	}))
	require.ElementsMatch(t, []string{"1", "2"}, again)
	p.end()
	require.Equal(t, 0, nc.NumSubscriptions())
}

// What comes when somebody else may have it in hand is left to the server.
func TestWhatComesTooLateIsNotPutBack(t *testing.T) {
	t.Parallel()
	nc := natstest.JetStream(t).Conn()
	p := &pulls{nc: nc, late: func(*nats.Msg) { t.Error("was put back") }, ended: make(chan struct{})}
	answers := make(chan *nats.Msg, 1)
	sub, err := nc.ChanSubscribe(nc.NewInbox(), answers)
	require.NoError(t, err)
	p.catch(mailbox{sub, answers}, -time.Second)
	require.False(t, sub.IsValid())
}

// consumerOf makes a stream of the subject s, and a consumer of it.
func consumerOf(t *testing.T) (jetstream.JetStream, jetstream.Consumer) {
	t.Helper()
	js := natstest.JetStream(t)
	stream, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "S", Subjects: []string{"s"}})
	require.NoError(t, err)
	c, err := stream.CreateConsumer(t.Context(), jetstream.ConsumerConfig{Durable: "C", AckPolicy: jetstream.AckExplicitPolicy})
	require.NoError(t, err)
	return js, c
}

// A message that looks like the server's word ends no pull, and what comes behind it does not
// go to the next one.
func TestAMessageThatLooksLikeAStatusIsAMessage(t *testing.T) {
	t.Parallel()
	js, c := consumerOf(t)
	_, err := js.PublishMsg(t.Context(), &nats.Msg{Subject: "s", Header: nats.Header{"Status": {"404"}}})
	require.NoError(t, err)
	_, err = js.Publish(t.Context(), "s", []byte("2"))
	require.NoError(t, err)
	p := newPulls(js, 3, func(*nats.Msg) {})
	defer p.end()
	var got []string
	require.NoError(t, p.pull(c.CachedInfo(), 3, 0, time.Minute, func(m *nats.Msg) { got = append(got, string(m.Data)) }))
	require.Equal(t, []string{"", "2"}, got)
}

// What a server says of a pull that was over is no answer to the next one.
func TestAPullDoesNotHearWhatWasSaidOfAnother(t *testing.T) {
	t.Parallel()
	js, c := consumerOf(t)
	_, err := js.Publish(t.Context(), "s", []byte("1"))
	require.NoError(t, err)

	p := newPulls(js, 1, func(*nats.Msg) { t.Error("came late") })
	box, err := p.mailbox()
	require.NoError(t, err)
	p.giveBack(box)
	require.NoError(t, js.Conn().PublishMsg(&nats.Msg{Subject: box.sub.Subject, Header: nats.Header{"Status": {"409"}, "Description": {"Leadership Change"}}}))
	require.Eventually(t, func() bool { return len(box.answers) == 1 }, time.Minute, time.Millisecond)

	came := ""
	info := c.CachedInfo()
	require.NoError(t, p.pull(info, 1, 0, info.Config.AckWait, func(m *nats.Msg) { came = string(m.Data) }))
	require.Equal(t, "1", came)
	require.False(t, box.sub.IsValid())
	p.end()
	require.Equal(t, 0, js.Conn().NumSubscriptions()-1, "that of requests stays")
}

// slowLine is a connection to a server whose answers can be held up.
type slowLine struct {
	url string

	mu sync.Mutex // locked while they are
}

func newSlowLine(t *testing.T, server string) *slowLine {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	line := &slowLine{url: "nats://" + l.Addr().String()}
	var copies sync.WaitGroup
	copies.Go(func() {
		in, err := l.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("tcp", strings.TrimPrefix(server, "nats://"))
		if err != nil {
			_ = in.Close()
			return
		}
		copies.Go(func() { _, _ = io.Copy(out, in); _ = out.Close() })
		buf := make([]byte, 32<<10)
		for {
			n, err := out.Read(buf)
			if err != nil {
				_ = in.Close()
				return
			}
			line.mu.Lock()
			_, err = in.Write(buf[:n])
			line.mu.Unlock()
			if err != nil {
				_ = out.Close()
				return
			}
		}
	})
	t.Cleanup(func() { _ = l.Close(); copies.Wait() })
	return line
}

func (l *slowLine) hold()    { l.mu.Lock() }
func (l *slowLine) release() { l.mu.Unlock() }
