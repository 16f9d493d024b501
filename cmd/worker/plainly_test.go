package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/cli"
	"github.com/weirkeeper/weirkeeper/internal/natsconn/natsflags"
	"github.com/weirkeeper/weirkeeper/internal/statuspage"
	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/kvcache/natskv"
	"github.com/weirkeeper/weirkeeper/publish"
)

// at are the flags of an operator who means that server.
func at(url string) operatorFlags {
	return operatorFlags{Flags: natsflags.Flags{NATSURL: url, Namespace: "weir", Replicas: 1}, LogFlags: cli.LogFlags{LogLevel: "error"}}
}

// listening starts a server that commands connect to.
func listening(t *testing.T, options *server.Options) (url string) {
	options.Host, options.Port, options.NoLog, options.NoSigs, options.StoreDir = "127.0.0.1", server.RANDOM_PORT, true, true, t.TempDir()
	srv, err := server.NewServer(options)
	require.NoError(t, err)
	srv.Start()
	t.Cleanup(srv.WaitForShutdown)
	t.Cleanup(srv.Shutdown)
	require.True(t, srv.ReadyForConnections(10*time.Second))
	return srv.ClientURL()
}

func jetStream(t *testing.T, url string) jetstream.JetStream {
	nc, err := nats.Connect(url, nats.UserInfo("u", "p"), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	require.NoError(t, err)
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	require.NoError(t, err)
	return js
}

// told is what a command has written.
type told struct{ out, err bytes.Buffer }

func (t *told) streams() cli.Streams {
	return cli.Streams{In: strings.NewReader(""), Out: &t.out, Err: &t.err}
}

// What somebody published among the dead letters is counted, so it is listed, too.
func TestLettersThatCannotBeReadAreListed(t *testing.T) {
	url := listening(t, &server.Options{JetStream: true})
	js := jetStream(t, url)
	names, err := wire.NewNames("")
	require.NoError(t, err)
	require.NoError(t, wire.Ensure(t.Context(), js, names))
	ack, err := js.Publish(t.Context(), "weir.dead.acme", []byte("what is this"))
	require.NoError(t, err)
	flags := at(url)

	var list told
	require.NoError(t, (&deadListCommand{operatorFlags: flags}).Run(t.Context(), list.streams()))
	require.Regexp(t, `1\s+acme\s+unreadable\s.*Weir-Error-Kind is "", not a kind`, list.out.String())
	require.Contains(t, list.err.String(), "worker dead show 1 shows one, nats stream rmm WEIR_DEAD 1 removes it")
	for kind, listed := range map[string]bool{publish.KindUnreadable: true, "refused": false} {
		var some told
		require.NoError(t, (&deadListCommand{letterFlags: letterFlags{Kind: deadKind(kind)}, operatorFlags: flags}).Run(t.Context(), some.streams()))
		require.Equal(t, listed, strings.Contains(some.out.String(), "acme"), kind)
	}

	var show told
	require.NoError(t, (&deadShowCommand{Letter: ack.Sequence, operatorFlags: flags}).Run(t.Context(), show.streams()))
	require.Contains(t, show.out.String(), "what is this")
	err = (&deadShowCommand{operatorFlags: flags}).Run(t.Context(), show.streams())
	require.Equal(t, cli.ExitUsage, cli.ExitCode(err), err)

	letter := wire.DeadLetter{Kind: "refused", OriginSubject: "weir.chunks.acme", OriginSequence: 1, FailedAt: time.Now()}
	good, err := js.PublishMsg(t.Context(), &nats.Msg{Subject: "weir.dead.acme", Header: letter.Header(nil), Data: []byte(`{"text":"Ada"}`)})
	require.NoError(t, err)
	var replay told
	err = (&deadReplayCommand{Letters: []uint64{9999, ack.Sequence, good.Sequence}, operatorFlags: flags}).Run(t.Context(), replay.streams())
	require.EqualError(t, err, "2 dead letters could not be sent again")
	require.Equal(t, cli.ExitFailed, cli.ExitCode(err))
	require.Contains(t, replay.out.String(), "there is no dead letter 9999")
	require.Contains(t, replay.out.String(), "sent\t2\tacme\trefused")
	err = (&deadReplayCommand{Letters: []uint64{0}, operatorFlags: flags}).Run(t.Context(), replay.streams())
	require.Equal(t, cli.ExitUsage, cli.ExitCode(err), err)

	const left = "left what cannot be read, 1 message: worker dead list --kind unreadable says why\n"
	for chosen, want := range map[letterFlags]string{{}: left, {Tenant: "acme"}: left, {Tenant: "other"}: "no dead letter is like that", {Kind: "refused"}: "no dead letter is like that"} {
		var rest told
		require.NoError(t, (&deadReplayCommand{All: chosen == letterFlags{}, letterFlags: chosen, operatorFlags: flags}).Run(t.Context(), rest.streams()))
		require.Contains(t, rest.err.String(), want)
		require.Equal(t, want == left, rest.err.String() == left, rest.err.String())
		require.Empty(t, rest.out.String())
	}
}

// Who opens the circuit of workers that have not failed yet has spelt it right; who
// pauses a fleet that does not run may have mistaken the namespace, and who orders
// something of a tenant without a trace its name.
func TestOperatorsHearWhetherAnybodyListens(t *testing.T) {
	url := listening(t, &server.Options{JetStream: true})
	js := jetStream(t, url)
	names, err := wire.NewNames("")
	require.NoError(t, err)
	flags, tenant := at(url), "acme"
	open := func(name string) string {
		var o told
		require.NoError(t, (&circuitOpenCommand{circuitName: circuitName{name}, Reason: "test", operatorFlags: flags}).Run(t.Context(), o.streams()))
		return o.err.String()
	}
	pause := func() string {
		var o told
		require.NoError(t, (&pauseCommand{pauseTarget: pauseTarget{Tenant: &tenant}, operatorFlags: flags}).Run(t.Context(), o.streams()))
		return o.err.String()
	}
	show := func(name string) string {
		var o told
		require.NoError(t, (&circuitShowCommand{circuitName: circuitName{name}, operatorFlags: flags}).Run(t.Context(), o.streams()))
		return o.err.String()
	}
	require.Contains(t, show("gpu"), "check that workers have --circuit gpu")
	require.Contains(t, open("gpu"), "check that workers have --circuit gpu")
	require.Empty(t, show("gpu"))
	limit := func() string {
		var o told
		require.NoError(t, (&limitsSetCommand{Tenant: tenant, RPM: requests{5, true}, operatorFlags: flags}).Run(t.Context(), o.streams()))
		return o.err.String()
	}
	require.Contains(t, pause(), "no worker runs in namespace weir")

	_, err = wire.EnsureWorkers(t.Context(), js, names)
	require.NoError(t, err)
	bucket, err := js.KeyValue(t.Context(), names.WorkersBucket())
	require.NoError(t, err)
	state, err := json.Marshal(wire.WorkerState{Worker: "w", State: "consuming", Circuit: "tpu", At: time.Now()})
	require.NoError(t, err)
	_, err = bucket.Put(t.Context(), "w.1", state)
	require.NoError(t, err)
	require.NotContains(t, open("tpu"), "nothing is stored")
	require.Contains(t, open("npu"), "check that workers have --circuit npu")
	require.Contains(t, pause(), "nothing is known of tenant acme yet")
	require.Contains(t, limit(), "nothing is known of tenant acme yet")

	require.NoError(t, wire.Ensure(t.Context(), js, names))
	_, err = js.Publish(t.Context(), names.DocumentSubject(tenant), []byte("Ada met Charles."))
	require.NoError(t, err)
	require.Empty(t, pause())
	require.Empty(t, limit())
}

// Where no tenant means the whole fleet, that is said.
func TestWhoNamesNoTenantHearsWhatThatMeans(t *testing.T) {
	flags, tenant := at(listening(t, &server.Options{JetStream: true})), "acme"
	for command, says := range map[interface {
		Run(context.Context, cli.Streams) error
	}]bool{
		&pauseCommand{operatorFlags: flags}:                                             true,
		&pauseCommand{pauseTarget: pauseTarget{Fleet: true}, operatorFlags: flags}:      false,
		&resumeCommand{operatorFlags: flags}:                                            true,
		&resumeCommand{pauseTarget: pauseTarget{Fleet: true}, operatorFlags: flags}:     false,
		&resumeCommand{pauseTarget: pauseTarget{Tenant: &tenant}, operatorFlags: flags}: false,
	} {
		var o told
		require.NoError(t, command.Run(t.Context(), o.streams()))
		require.Equal(t, says, strings.Contains(o.err.String(), "no tenant given: the whole fleet\n"), "%T: %s", command, o.err.String())
	}
}

// Who looks at a server without JetStream hears that, and not what NATS calls it.
func TestTopSaysThatThereIsNoJetStream(t *testing.T) {
	var o told
	err := (&topCommand{Interval: time.Second, Once: true, Sort: byWaiting, operatorFlags: at(listening(t, &server.Options{}))}).Run(t.Context(), o.streams())
	require.ErrorContains(t, err, "stream WEIR_CHUNKS: the server, or this user's account on it, has no JetStream")
	require.Equal(t, cli.ExitFailed, cli.ExitCode(err))
	require.Empty(t, o.out.String())
}

// Replicas that a single server cannot keep are told before the first worker asks for
// them, and are nobody's business once everything is there.
func TestCheckSaysThatReplicasNeedACluster(t *testing.T) {
	url := listening(t, &server.Options{JetStream: true})
	js := jetStream(t, url)
	names, err := wire.NewNames("")
	require.NoError(t, err)
	u := proving()
	u.js, u.conn, u.names = js, js.Conn(), names.WithReplicas(3)
	_, err = u.checkStreams(t.Context())
	found := judge("streams", "", err)
	require.Contains(t, found.Detail, "cannot be made with 3 replicas: this server is in no cluster")
	require.Equal(t, "leave --replicas out, or name a server of a cluster with --nats-url", found.Next)

	require.NoError(t, wire.Ensure(t.Context(), js, names))
	_, err = u.checkStreams(t.Context())
	require.NoError(t, err)
}

// A worker that cannot start says what worker check says.
func TestWhatKeepsAWorkerFromStartingIsTold(t *testing.T) {
	names, err := wire.NewNames("")
	require.NoError(t, err)
	start := func(options *server.Options) error {
		js := jetStream(t, listening(t, options))
		return startError(t.Context(), js, names, fmt.Errorf("opaque: %w", nats.ErrTimeout))
	}
	allowed := func(publish, subscribe string, denied ...string) *server.Options {
		return &server.Options{JetStream: true, Users: []*server.User{{Username: "u", Password: "p", Permissions: &server.Permissions{
			Publish: &server.SubjectPermission{Allow: []string{publish}, Deny: denied}, Subscribe: &server.SubjectPermission{Allow: []string{subscribe}},
		}}}}
	}
	js := jetStream(t, listening(t, &server.Options{}))
	_, err = natsStores(t.Context(), js, names, nil)
	require.ErrorContains(t, startError(t.Context(), js, names, err), "bucket weir_circuit: the server, or this user's account on it, has no JetStream")
	err = start(allowed(">", ">", "$JS.API.STREAM.CREATE.>"))
	require.EqualError(t, err, "namespace weir lacks 11 streams, and this user may create none: worker setup does, run by one who may (docs/security.md)")
	require.Equal(t, cli.ExitFailed, cli.ExitCode(err), "who starts it until it works need not be told when that is")
	rights := []string{"subscribe to weir.arrived.*", "publish to weir.dead.*", "publish to $JS.API.STREAM.CREATE.WEIR_DEAD", "publish to $JS.ACK.WEIR_CHUNKS.>"}
	require.EqualError(t, lacking(names, rights[:3]), "this user may not subscribe to weir.arrived.*, nor publish to weir.dead.*, $JS.API.STREAM.CREATE.WEIR_DEAD: grant it, see docs/security.md")
	require.EqualError(t, lacking(names, rights), "this user may not subscribe to weir.arrived.*, nor publish to weir.dead.*, $JS.API.STREAM.CREATE.WEIR_DEAD, and lacks 1 right more: worker check names all, and docs/security.md what to grant")
	require.EqualError(t, start(allowed(">", "_INBOX_worker.>")),
		"this user may not subscribe to _INBOX.>: set --nats-inbox-prefix (NATS_INBOX_PREFIX) to what this user's account allows, see docs/security.md")
}

// An empty table may be that of a misspelt name.
func TestWhoLooksForDeadLettersThatAreNotThereHearsSo(t *testing.T) {
	url := listening(t, &server.Options{JetStream: true})
	names, err := wire.NewNames("")
	require.NoError(t, err)
	require.NoError(t, wire.Ensure(t.Context(), jetStream(t, url), names))
	flags, other := at(url), letterFlags{Tenant: "acmee"}
	for command, want := range map[interface {
		Run(context.Context, cli.Streams) error
	}]string{
		&deadListCommand{operatorFlags: flags}:                       "there are no dead letters",
		&deadListCommand{operatorFlags: flags, letterFlags: other}:   "no dead letter is like that",
		&deadReplayCommand{operatorFlags: flags, letterFlags: other}: "no dead letter is like that",
	} {
		var o told
		require.NoError(t, command.Run(t.Context(), o.streams()))
		require.Contains(t, o.err.String(), want, "%T", command)
	}
	_, err = orders{&session{js: jetStream(t, url), names: names}}.Replay(t.Context(), statuspage.ReplayOrder{Letter: 99})
	require.Equal(t, &statuspage.RefusedError{Reason: "there is no dead letter 99"}, err, "an order that makes no sense, and no failure of NATS")
}

// So may it be that of a misspelt namespace.
func TestWhoLooksAtANamespaceWithoutAFleetHearsSo(t *testing.T) {
	flags := at(listening(t, &server.Options{JetStream: true}))
	for _, command := range []interface {
		Run(context.Context, cli.Streams) error
	}{
		&deadListCommand{operatorFlags: flags}, &deadReplayCommand{All: true, operatorFlags: flags}, &circuitListCommand{flags},
		&pauseCommand{List: true, operatorFlags: flags}, &limitsShowCommand{operatorFlags: flags},
	} {
		var o told
		require.NoError(t, command.Run(t.Context(), o.streams()))
		require.Contains(t, o.err.String(), "no worker has run in namespace weir yet: there is no stream WEIR_CHUNKS\n", "%T", command)
	}
}

// What pauses nothing is not taken for a pause of somebody.
func TestAnEntryThatIsNoPauseIsListedAsSuch(t *testing.T) {
	url := listening(t, &server.Options{JetStream: true})
	js := jetStream(t, url)
	names, err := wire.NewNames("")
	require.NoError(t, err)
	_, err = wire.EnsurePauses(t.Context(), js, names)
	require.NoError(t, err)
	bucket, err := js.KeyValue(t.Context(), names.PauseBucket())
	require.NoError(t, err)
	list := func(asJSON bool) (out, errOut string) {
		var o told
		flags := at(url)
		flags.JSON = asJSON
		require.NoError(t, (&pauseCommand{List: true, operatorFlags: flags}).Run(t.Context(), o.streams()))
		return o.out.String(), o.err.String()
	}
	until := []byte(`{"until":"` + time.Now().Add(time.Hour).Format(time.RFC3339) + `"}`)
	_, err = bucket.Put(t.Context(), "tenant.acme", until)
	require.NoError(t, err)
	_, note := list(false)
	require.NotContains(t, note, "pauses nothing")

	_, err = bucket.Put(t.Context(), "flet", until)
	require.NoError(t, err)
	table, note := list(false)
	require.Regexp(t, `(?m)^tenant acme +\S+Z *$`, table)
	require.Regexp(t, `(?m)^key flet +- +invalid pause: the key is neither "fleet" nor`, table)
	require.Equal(t, "what has a problem pauses nothing; such as: nats kv del weir_pause flet --force removes it\n", note)
	var all []shownPause
	text, _ := list(true)
	require.NoError(t, json.Unmarshal([]byte(text), &all))
	require.Equal(t, []string{"tenant.acme", "flet"}, []string{all[0].Key, all[1].Key})
	require.Equal(t, []string{"acme", ""}, []string{all[0].Tenant, all[1].Tenant})
}

// A time that is none is answered with one that is, not with Go's layout.
func TestMomentsAreAskedForPlainly(t *testing.T) {
	var m moment
	require.NoError(t, m.UnmarshalText([]byte("2026-01-31T12:00:00Z")))
	require.Equal(t, time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC), m.Time)
	require.EqualError(t, m.UnmarshalText([]byte("tomorrow")), `want a time in RFC 3339, such as 2026-01-31T12:00:00Z, but got "tomorrow"`)
}

// A circuit that stays closed has not changed, whatever is removed of it.
func TestACircuitThatStaysClosedIsNoNews(t *testing.T) {
	flags, name := at(listening(t, &server.Options{JetStream: true})), circuitName{"gpu"}
	var opened, reset, forgotten told
	require.NoError(t, (&circuitOpenCommand{circuitName: name, Reason: "test", operatorFlags: flags}).Run(t.Context(), opened.streams()))
	require.NoError(t, (&circuitResetCommand{name, flags}).Run(t.Context(), reset.streams()))
	require.Equal(t, "circuit gpu was open and is closed\n", reset.err.String())
	require.NoError(t, (&circuitForgetCommand{name, flags}).Run(t.Context(), forgotten.streams()))
	require.Empty(t, forgotten.err.String())
}

// Settings that cannot be right end with the exit code that worker run has for them.
func TestSettingsThatCannotBeRight(t *testing.T) {
	require.True(t, judge("nats", "", advise(cli.Usage(errWindow), "correct that")).settings)
	require.True(t, judge("streams", "", advise(&wire.MismatchError{}, "put that right")).settings)
	require.True(t, judge("buckets", "", advise(&natskv.MismatchError{}, "change it")).settings)
	require.False(t, judge("nats", "", advise(errTooBusy, "try again")).settings)
	for window, ok := range map[time.Duration]bool{0: false, 1: false, time.Millisecond + 1: false, time.Millisecond: true, time.Minute: true} {
		require.Equal(t, ok, limitFlags{Window: window}.check(false) == nil, window)
	}
}
