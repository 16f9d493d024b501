package publish_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/publish"
)

func TestChunksCarryTheirIdentityAndOffsets(t *testing.T) {
	f := newFleet(t)
	text := sentences(5)
	plan := f.plan("dök 1", file(t, "a.txt", text))
	publisher := f.publisher(plan)
	require.NoError(t, publisher.Send(t.Context()))

	messages := f.take(100)
	require.Len(t, messages, plan.Chunks)
	require.Greater(t, len(messages), 2)
	require.Equal(t, publish.Counts{Chunks: plan.Chunks, Sent: plan.Chunks}, publisher.Counts())
	for i, msg := range messages {
		chunk, err := wire.DecodeChunk(msg.Data())
		require.NoError(t, err)
		require.Equal(t, "dök 1", chunk.DocumentID)
		require.Equal(t, i, chunk.Index)
		require.Equal(t, len(messages), chunk.Total)
		require.Equal(t, text[chunk.ByteStart:chunk.ByteEnd], chunk.Text)
		require.Equal(t, extraction.ChunkID("dök 1", i, chunk.Text), chunk.ChunkID)
		require.Equal(t, chunk.ChunkID, msg.Headers().Get(nats.MsgIdHdr))
		require.Equal(t, extraction.TextSHA256(text), chunk.DocumentSHA256)
		require.Equal(t, "a.txt", chunk.Title)
		tenant, err := f.names.Tenant(msg.Subject())
		require.NoError(t, err)
		require.Equal(t, "acme co.", tenant)
	}
}

func TestTheSameDocumentTwiceIsSentOnce(t *testing.T) {
	f := newFleet(t)
	source := file(t, "a.txt", sentences(4))
	plan := f.plan("", source)
	require.NoError(t, f.publisher(plan).Send(t.Context()))
	again := f.publisher(f.plan("", source))
	require.NoError(t, again.Send(t.Context()))
	require.Equal(t, publish.Counts{Chunks: plan.Chunks, Sent: plan.Chunks, Duplicate: plan.Chunks}, again.Counts())

	messages := f.take(100)
	require.Len(t, messages, plan.Chunks)
	f.finish(messages[0], extraction.Extraction{})
	third := f.publisher(f.plan("", source))
	require.NoError(t, third.Send(t.Context()))
	require.Equal(t, 1, third.Counts().Existing)
	require.Equal(t, 1, third.Counts().Done)
	require.Equal(t, plan.Chunks-1, third.Counts().Sent)
}

// What was finished is not sent again, however long ago it was: the window in
// which the stream itself drops copies is not relied on.
func TestPublicationIsResumed(t *testing.T) {
	f := newFleet(t)
	source := file(t, "a.txt", sentences(6))
	plan := f.plan("", source)
	require.NoError(t, f.publisher(plan).Send(t.Context()))
	messages := f.take(100)
	for _, msg := range messages[:2] {
		f.finish(msg, extraction.Extraction{})
	}
	// The rest is lost with its stream, and with it the memory of copies.
	require.NoError(t, f.js.DeleteStream(t.Context(), f.names.ChunkStream()))
	require.NoError(t, wire.Ensure(t.Context(), f.js, f.names))

	resumed := f.publisher(f.plan("", source))
	require.NoError(t, resumed.Send(t.Context()))
	require.Equal(t, publish.Counts{Chunks: plan.Chunks, Existing: 2, Done: 2, Sent: plan.Chunks - 2}, resumed.Counts())
}

func TestAnotherTextUnderTheSameIDIsSent(t *testing.T) {
	f := newFleet(t)
	require.NoError(t, f.publisher(f.plan("d", file(t, "a.txt", "Ada met Charles."))).Send(t.Context()))
	f.finish(f.take(1)[0], extraction.Extraction{})
	second := f.publisher(f.plan("d", file(t, "a.txt", "Ada met Mary.")))
	require.NoError(t, second.Send(t.Context()))
	require.Equal(t, publish.Counts{Chunks: 1, Sent: 1}, second.Counts())
}

func TestFollowEndsWithResultsAndDeadLetters(t *testing.T) {
	f := newFleet(t)
	var lines []string
	for i := range 80 { // more documents than one consumer filters by
		lines = append(lines, fmt.Sprintf(`{"document_id":"d%02d","text":"Ada met Charles number %d."}`, i, i))
	}
	plan := f.plan("", file(t, "docs.jsonl", strings.Join(lines, "\n")))
	publisher := f.publisher(plan)
	require.NoError(t, publisher.Send(t.Context()))
	messages := f.take(100)
	require.Len(t, messages, 80)

	type outcome struct {
		dead []publish.Dead
		err  error
	}
	done := make(chan outcome, 1)
	go func() {
		dead, err := publisher.Follow(t.Context(), time.Millisecond)
		done <- outcome{dead, err}
	}()
	for i, msg := range messages {
		if i%20 == 7 {
			f.bury(msg, "refused")
		} else {
			f.finish(msg, extraction.Extraction{})
		}
	}
	got := <-done
	require.NoError(t, got.err)
	require.Len(t, got.dead, 4)
	require.Equal(t, "d07", got.dead[0].DocumentID)
	require.Equal(t, "refused", got.dead[0].Kind)
	require.Equal(t, publish.Counts{Chunks: 80, Sent: 80, Done: 76, Dead: 4}, publisher.Counts())
}

// A chunk that is dead already is tried again when it is sent again, also within
// the stream's memory of copies, and its answer is the new one.
func TestADeadChunkThatIsSentAgainIsTriedAgain(t *testing.T) {
	f := newFleet(t)
	source := file(t, "a.txt", "Ada met Charles.")
	require.NoError(t, f.publisher(f.plan("", source)).Send(t.Context()))
	f.bury(f.take(1)[0], "malformed")

	again := f.publisher(f.plan("", source))
	require.NoError(t, again.Send(t.Context()))
	require.Equal(t, publish.Counts{Chunks: 1, Sent: 1}, again.Counts())
	messages := f.take(1)
	require.Len(t, messages, 1)
	f.bury(messages[0], "refused")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	dead, err := again.Follow(ctx, time.Millisecond)
	require.NoError(t, err)
	require.Len(t, dead, 1)
	require.Equal(t, "refused", dead[0].Kind)
}

const patience = 30 * time.Second

// The ids of chunks do not tell tenants apart: the same text of another tenant
// is sent for that one, too, whether the first copy still waits or not.
func TestTheSameTextOfTwoTenantsIsSentForBoth(t *testing.T) {
	for name, gone := range map[string]bool{"first waits": false, "first is gone": true} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t)
			source := file(t, "a.txt", "Ada met Charles.")
			require.NoError(t, f.publisher(f.planFor("t1", "", source)).Send(t.Context()))
			if gone {
				f.finish(f.take(1)[0], extraction.Extraction{})
			}
			second := f.publisher(f.planFor("t2", "", source))
			require.NoError(t, second.Send(t.Context()))
			require.Equal(t, publish.Counts{Chunks: 1, Sent: 1}, second.Counts())
			for _, msg := range f.take(2) {
				f.finish(msg, extraction.Extraction{})
			}
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			_, err := second.Follow(ctx, time.Millisecond)
			require.NoError(t, err)
			require.Equal(t, 1, second.Counts().Done)
		})
	}
}

// A document that is put back to an earlier version, as often as one likes, has
// the result of the version that was published last.
func TestADocumentIsPutBackToAnEarlierVersion(t *testing.T) {
	f := newFleet(t)
	for _, text := range []string{"Version one.", "Version two.", "Version one.", "Version two.", "Version one."} {
		publisher := f.publisher(f.plan("d", file(t, "a.txt", text)))
		require.NoError(t, publisher.Send(t.Context()))
		require.Equal(t, publish.Counts{Chunks: 1, Sent: 1}, publisher.Counts())
		messages := f.take(1)
		require.Len(t, messages, 1)
		f.finish(messages[0], extraction.Extraction{})
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		_, err := publisher.Follow(ctx, time.Millisecond)
		cancel()
		require.NoError(t, err)
		parts, err := f.reader().Parts(t.Context(), "d")
		require.NoError(t, err)
		require.Equal(t, extraction.ChunkID("d", 0, text), parts[0].ChunkID)
		require.Equal(t, "a.txt", parts[0].Title)
	}
}

// A chunk that is finished while it is sent once more leaves a copy in the
// queue: a publication that is done leaves nothing there.
func TestFollowWaitsForCopies(t *testing.T) {
	f := newFleet(t)
	source := file(t, "a.jsonl", `{"document_id":"d0","text":"Ada."}`+"\n"+`{"document_id":"d1","text":"Mary."}`)
	require.NoError(t, f.publisher(f.plan("", source)).Send(t.Context()))
	messages := f.take(2)
	again := f.publisher(f.plan("", source))
	landed := 0
	again.OnChange(func(publish.Counts) {
		if landed++; landed == 1 { // both are on their way
			f.finish(messages[1], extraction.Extraction{})
		}
	})
	require.NoError(t, again.Send(t.Context()))
	require.Equal(t, publish.Counts{Chunks: 2, Sent: 2, Duplicate: 1}, again.Counts())
	f.finish(messages[0], extraction.Extraction{})

	short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := again.Follow(short, time.Millisecond)
	var wait *publish.WaitError
	require.ErrorAs(t, err, &wait)
	require.Equal(t, 1, wait.Open)

	f.finish(f.take(1)[0], extraction.Extraction{})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_, err = again.Follow(ctx, time.Millisecond)
	require.NoError(t, err)
	require.Equal(t, 2, again.Counts().Done)
}

// The first chunks of a document that has grown are what they were, of more:
// they are sent again, so that their results say which version they belong to.
func TestADocumentThatHasGrownIsSentAsAWhole(t *testing.T) {
	f := newFleet(t)
	short := f.plan("d", file(t, "a.txt", sentences(4)))
	require.NoError(t, f.publisher(short).Send(t.Context()))
	for _, msg := range f.take(100) {
		f.finish(msg, extraction.Extraction{})
	}
	grown := f.plan("d", file(t, "a.txt", sentences(8)))
	require.Greater(t, grown.Chunks, short.Chunks)
	publisher := f.publisher(grown)
	require.NoError(t, publisher.Send(t.Context()))
	require.Equal(t, publish.Counts{Chunks: grown.Chunks, Sent: grown.Chunks}, publisher.Counts())
	require.Len(t, f.take(100), grown.Chunks)
}

// An old dead letter says nothing about a chunk that really was sent again.
func TestFollowIgnoresDeadLettersOfEarlierCopies(t *testing.T) {
	f := newFleet(t)
	source := file(t, "a.jsonl", `{"document_id":"d0","text":"Ada."}`+"\n"+`{"document_id":"d1","text":"Mary."}`)
	require.NoError(t, f.publisher(f.plan("", source)).Send(t.Context()))
	first := f.take(2)
	// Somebody else sends the same first chunk without an id, and it dies.
	require.NoError(t, first[0].DoubleAck(t.Context()))
	require.NoError(t, f.js.DeleteStream(t.Context(), f.names.ChunkStream()))
	require.NoError(t, wire.Ensure(t.Context(), f.js, f.names))
	f.queue = f.consumer()
	copied := nats.NewMsg(first[0].Subject())
	copied.Data = first[0].Data()
	_, err := f.js.PublishMsg(t.Context(), copied)
	require.NoError(t, err)
	f.bury(f.take(1)[0], "malformed")
	second := nats.NewMsg(first[1].Subject())
	second.Data = first[1].Data()
	second.Header.Set(nats.MsgIdHdr, first[1].Headers().Get(nats.MsgIdHdr))
	_, err = f.js.PublishMsg(t.Context(), second)
	require.NoError(t, err)

	// One chunk is new, one a duplicate, so that old dead letters are looked at.
	publisher := f.publisher(f.plan("", source))
	require.NoError(t, publisher.Send(t.Context()))
	require.Equal(t, publish.Counts{Chunks: 2, Sent: 2, Duplicate: 1}, publisher.Counts())
	for _, msg := range f.take(2) {
		if chunk, err := wire.DecodeChunk(msg.Data()); err == nil && chunk.DocumentID == "d1" {
			f.finish(msg, extraction.Extraction{})
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	dead, err := publisher.Follow(ctx, time.Millisecond)
	require.Empty(t, dead)
	var wait *publish.WaitError
	require.ErrorAs(t, err, &wait)
	require.Equal(t, 1, wait.Open)
}

func TestFollowSaysHowManyAreOpenWhenTimeIsUp(t *testing.T) {
	f := newFleet(t)
	publisher := f.publisher(f.plan("", file(t, "a.txt", "Ada met Charles.")))
	require.NoError(t, publisher.Send(t.Context()))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := publisher.Follow(ctx, time.Millisecond)
	var wait *publish.WaitError
	require.ErrorAs(t, err, &wait)
	require.Equal(t, 1, wait.Open)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestAStreamThatIsFullIsAnErrorThatTellsHowToGoOn(t *testing.T) {
	f := newFleet(t)
	stream, err := f.js.Stream(t.Context(), f.names.ChunkStream())
	require.NoError(t, err)
	config := stream.CachedInfo().Config
	config.MaxMsgs, config.Discard = 2, 1 // DiscardNew
	_, err = f.js.UpdateStream(t.Context(), config)
	require.NoError(t, err)

	publisher := f.publisher(f.plan("", file(t, "a.txt", sentences(6))))
	err = publisher.Send(t.Context())
	var send *publish.SendError
	require.ErrorAs(t, err, &send)
	require.Equal(t, 2, send.Index)
	require.ErrorContains(t, err, "maximum messages exceeded")
	require.ErrorContains(t, err, "again")
	require.Equal(t, 2, publisher.Counts().Sent)
}

func TestAFileThatChangesAfterTheCheckIsNotSent(t *testing.T) {
	f := newFleet(t)
	path := write(t, "a.txt", "Ada met Charles.")
	source, err := openFile(t, path)
	require.NoError(t, err)
	plan := f.plan("d", source)
	rewrite(t, path, "Ada met Mary.")
	err = f.publisher(plan).Send(t.Context())
	var input *publish.InputError
	require.ErrorAs(t, err, &input)
	require.ErrorContains(t, err, "changed")
	require.Empty(t, f.take(1))
}

// Two publishers, two versions: the worker settles the older chunk without a
// result of its own, because the newer one's is there.
func TestFollowEndsWhenALaterVersionIsThere(t *testing.T) {
	f := newFleet(t)
	older := f.publisher(f.plan("d", file(t, "a.txt", "Ada met Charles.")))
	require.NoError(t, older.Send(t.Context()))
	first := f.take(1)[0]
	newer := f.publisher(f.plan("d", file(t, "a.txt", "Ada met Mary.")))
	require.NoError(t, newer.Send(t.Context()))
	f.finish(f.take(1)[0], extraction.Extraction{})

	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := older.Follow(ctx, time.Millisecond)
	var wait *publish.WaitError
	require.ErrorAs(t, err, &wait, "as long as the chunk waits, its own result may still come")

	require.NoError(t, first.DoubleAck(t.Context()))
	dead, err := older.Follow(t.Context(), time.Millisecond)
	require.NoError(t, err)
	require.Empty(t, dead)
	require.Equal(t, 1, older.Counts().Done)
}

func TestWaitErrorCounts(t *testing.T) {
	require.EqualError(t, &publish.WaitError{Open: 1, After: time.Second}, "1 chunk has neither a result nor a dead letter after 1s")
	require.EqualError(t, &publish.WaitError{Open: 2, After: time.Second}, "2 chunks have neither a result nor a dead letter after 1s")
}
