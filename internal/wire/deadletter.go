package wire

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/weirkeeper/weirkeeper/extraction"
)

// Kinds of dead letters beyond those of [extraction.Kind].
const (
	KindInvalidMessage    = "invalid_message"
	KindAttemptsExhausted = "attempts_exhausted"
	KindDeadline          = "deadline"
)

// DeadKinds are those that a dead letter may have, in the order of the documentation.
func DeadKinds() []string {
	return []string{
		KindInvalidMessage,
		string(extraction.KindMalformed), string(extraction.KindEmpty), string(extraction.KindTruncated),
		string(extraction.KindRefused), string(extraction.KindContextTooLong), string(extraction.KindInvalidRequest),
		KindAttemptsExhausted, KindDeadline,
	}
}

// IsDeadKind reports whether kind is one that a dead letter may have.
func IsDeadKind(kind string) bool { return slices.Contains(DeadKinds(), kind) }

// DeadLetter is why and when a message was set aside.
type DeadLetter struct {
	Kind           string    `json:"kind"`
	Error          string    `json:"error"` // at most 512 bytes on the wire, one line, secrets blotted out
	Attempts       int       `json:"attempts"`
	Deliveries     int       `json:"deliveries"`
	OriginSubject  string    `json:"origin_subject"`
	OriginSequence uint64    `json:"origin_sequence"` // in the stream of OriginSubject
	FailedAt       time.Time `json:"failed_at"`
	// Usage is what the call of the last attempt used, nil if it was not answered. What
	// attempts before it used is not known.
	Usage *extraction.Usage `json:"usage,omitempty"`
}

// Header is the header of the dead letter: the original's, without what was an
// instruction to the server, and what this letter says.
func (d DeadLetter) Header(original nats.Header) nats.Header {
	h := nats.Header{}
	for key, values := range original {
		if forServer(key) {
			continue
		}
		h[key] = append([]string(nil), values...)
	}
	if id := original.Get(nats.MsgIdHdr); id != "" {
		h.Set(HeaderOriginMsgID, id)
	}
	h.Set(HeaderErrorKind, d.Kind)
	h.Set(HeaderError, CleanError(d.Error))
	h.Set(HeaderAttempts, strconv.Itoa(d.Attempts))
	h.Set(HeaderDeliveries, strconv.Itoa(d.Deliveries))
	h.Set(HeaderOriginSubject, d.OriginSubject)
	h.Set(HeaderOriginSequence, strconv.FormatUint(d.OriginSequence, 10))
	h.Set(HeaderFailedAt, d.FailedAt.UTC().Format(time.RFC3339Nano))
	h.Del(HeaderUsage) // of a letter that was sent again
	if d.Usage != nil {
		if usage, err := json.Marshal(d.Usage); err == nil {
			h.Set(HeaderUsage, string(usage))
		}
	}
	return h
}

// forServer reports headers that are instructions to the server.
func forServer(key string) bool { return len(key) >= 5 && strings.EqualFold(key[:5], "Nats-") }

// ParseDeadLetter reads what [DeadLetter.Header] wrote. The error is an
// [*InvalidMessageError].
func ParseDeadLetter(h nats.Header) (DeadLetter, error) {
	d := DeadLetter{
		Kind:          h.Get(HeaderErrorKind),
		Error:         h.Get(HeaderError),
		OriginSubject: h.Get(HeaderOriginSubject),
	}
	if !IsDeadKind(d.Kind) {
		return DeadLetter{}, invalid("%s is %q, not a kind of dead letter", HeaderErrorKind, clip(d.Kind, 64))
	}
	var err error
	if d.Attempts, err = strconv.Atoi(h.Get(HeaderAttempts)); err != nil || d.Attempts < 0 {
		return DeadLetter{}, invalid("%s is not a count", HeaderAttempts)
	}
	if d.Deliveries, err = strconv.Atoi(h.Get(HeaderDeliveries)); err != nil || d.Deliveries < 0 {
		return DeadLetter{}, invalid("%s is not a count", HeaderDeliveries)
	}
	if d.OriginSequence, err = strconv.ParseUint(h.Get(HeaderOriginSequence), 10, 64); err != nil {
		return DeadLetter{}, invalid("%s is not a sequence", HeaderOriginSequence)
	}
	if d.FailedAt, err = time.Parse(time.RFC3339Nano, h.Get(HeaderFailedAt)); err != nil {
		return DeadLetter{}, invalid("%s is not an RFC 3339 time", HeaderFailedAt)
	}
	var usage *extraction.Usage // what cannot be read costs nobody the letter
	if json.Unmarshal([]byte(h.Get(HeaderUsage)), &usage) == nil {
		d.Usage = usage
	}
	return d, nil
}

// FitDeadLetter makes a dead letter pass a server with the given max_payload,
// losing as little as possible: first the body is compressed (and marked
// Content-Encoding: gzip), which makes room in any text; only if that is not
// enough, headers of the original's own and then the end of the body go, and
// Weir-Body-Cut says how long the body was. Headers that no stream takes go in any case.
func FitDeadLetter(msg *nats.Msg, maxPayload int64) error {
	if headerSize(msg) > mostHeaders {
		dropOriginals(msg.Header)
	}
	if headerSize(msg) > mostHeaders {
		msg.Header.Del(HeaderContentType)
	}
	if payloadSize(msg) <= maxPayload {
		return nil
	}
	if packed, err := pack(msg.Data); err != nil {
		return err
	} else if len(packed) < len(msg.Data) && msg.Header.Get(HeaderContentEncoding) == "" {
		whole := msg.Data
		msg.Data = packed
		msg.Header.Set(HeaderContentEncoding, "gzip")
		if payloadSize(msg) <= maxPayload {
			return nil
		}
		msg.Data = whole
		msg.Header.Del(HeaderContentEncoding)
	}
	msg.Header.Set(HeaderBodyCut, strconv.Itoa(len(msg.Data)))
	dropOriginals(msg.Header)
	if over := payloadSize(msg) - maxPayload; over > 0 {
		if over > int64(len(msg.Data)) {
			return &TooLargeError{Size: payloadSize(msg), Limit: maxPayload}
		}
		msg.Data = msg.Data[:int64(len(msg.Data))-over]
	}
	return nil
}

// mostHeaders is what headers may have in all: JetStream stores less than 64 KiB of them,
// and what publishes a letter adds some of its own.
const mostHeaders = 60_000

// dropOriginals removes the headers that are the original's own.
func dropOriginals(h nats.Header) {
	for key := range h {
		if !ownHeader(key) {
			h.Del(key)
		}
	}
}

// ownHeader reports headers that a dead letter keeps however little room there is.
func ownHeader(key string) bool {
	return saysOfLetter(key) || key == HeaderContentType || key == nats.MsgIdHdr
}

// saysOfLetter reports headers that are of the letter and not of the original.
func saysOfLetter(key string) bool {
	switch key {
	case HeaderErrorKind, HeaderError, HeaderAttempts, HeaderDeliveries, HeaderOriginSubject,
		HeaderOriginSequence, HeaderFailedAt, HeaderUsage, HeaderBodyCut:
		return true
	}
	return false
}

// MaxUnpackedBytes bounds the body of a dead letter once it is unpacked: far above
// any chunk, and anything that a server takes in one message.
const MaxUnpackedBytes = 64 << 20

// DeadLetterBody is the body of the original message. cut is true if its end
// was lost because it did not fit.
func DeadLetterBody(msg *nats.Msg, maxBytes int64) (body []byte, cut bool, err error) {
	cut = msg.Header.Get(HeaderBodyCut) != ""
	if msg.Header.Get(HeaderContentEncoding) != "gzip" || cut {
		return msg.Data, cut, nil
	}
	zr, err := gzip.NewReader(bytes.NewReader(msg.Data))
	if err != nil {
		return nil, cut, invalid("body is marked as gzip but is not")
	}
	body, err = io.ReadAll(io.LimitReader(zr, maxBytes+1))
	if err != nil {
		return nil, cut, invalid("body is marked as gzip but is not")
	}
	if int64(len(body)) > maxBytes {
		return nil, cut, invalid("body is longer than %d bytes", maxBytes)
	}
	return body, cut, nil
}

func pack(body []byte) ([]byte, error) {
	var buf bytes.Buffer
	zw := gzip.NewWriter(&buf)
	if _, err := zw.Write(body); err != nil {
		return nil, err
	}
	if err := zw.Close(); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}
