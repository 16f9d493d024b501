package wire

import (
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// HeaderReplayed is the trail of a message that was set aside and sent again: one
// value for each time, "<sequence of the dead letter> <kind> <failed at>". It
// stays if the message is set aside once more.
const HeaderReplayed = "Weir-Replayed"

// Replay makes, of the dead letter with that sequence in its stream, the message
// that was set aside: the original's subject, headers and body, and the trail.
// Its Nats-Msg-Id is the replay's own: the stream would take that of the original for
// a repetition, while the same replay repeated is one. The error is an
// [*InvalidMessageError] that says why there is no way back.
func (n Names) Replay(letter *nats.Msg, sequence uint64) (*nats.Msg, error) {
	dead, err := ParseDeadLetter(letter.Header)
	if err != nil {
		return nil, err
	}
	kind, _, ours := n.split(dead.OriginSubject)
	if !ours || kind != kindChunks && kind != kindDocuments || strings.Count(dead.OriginSubject, ".") != 2 ||
		n.DeadSubjectFor(dead.OriginSubject) != letter.Subject {
		return nil, invalid("%s is %q, which messages on %s do not come from", HeaderOriginSubject, clip(dead.OriginSubject, 64), letter.Subject)
	}
	body, cut, err := DeadLetterBody(letter, MaxUnpackedBytes)
	if err != nil {
		return nil, err
	}
	if cut {
		return nil, invalid("its end was cut off, because it did not fit: publish the document again")
	}
	h := nats.Header{}
	packed := letter.Header.Get(HeaderContentEncoding) == "gzip"
	for key, values := range letter.Header {
		if !letterHeader(key) && !(packed && key == HeaderContentEncoding) {
			h[key] = append([]string(nil), values...)
		}
	}
	failed := dead.FailedAt.UTC().Format(time.RFC3339Nano)
	place := strconv.FormatUint(sequence, 10)
	h.Add(HeaderReplayed, place+" "+dead.Kind+" "+failed)
	h.Set(nats.MsgIdHdr, "replay/"+n.DeadStream()+"/"+place+"/"+failed)
	return &nats.Msg{Subject: dead.OriginSubject, Header: h, Data: body}, nil
}

// OriginStream is the stream that a message on that subject, of a chunk or a
// document, is stored in.
func (n Names) OriginStream(subject string) string {
	if kind, _, _ := n.split(subject); kind == kindDocuments {
		return n.DocumentStream()
	}
	return n.ChunkStream()
}

// letterHeader reports headers that belong to the dead letter and not to what
// was set aside.
func letterHeader(key string) bool {
	return saysOfLetter(key) || key == HeaderOriginMsgID || forServer(key)
}
