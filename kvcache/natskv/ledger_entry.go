package natskv

import (
	"bytes"
	"fmt"
	"strconv"
	"time"

	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/kvcache/internal/ledger"
)

// An entry of the log is text, one line for each thing that it says:
//
//	take 120           take one request of 120 tokens from the window
//	back 57.0          take 0 of entry 57 did not fit, or its caller has left
//	used 57.1 90       take 1 of entry 57 has really used 90 tokens
//	cool 30s           refuse everything for 30 s from this entry's stamp
//	wait 1x9k 120 1m0s 10 0
//	                   1x9k, who was refused 120 tokens of a window of 1m with 10
//	                   requests and any number of tokens, stands in line
//
// Takes are numbered from 0 within their entry; together with the entry's
// sequence that is the id of an admission. A line that is none of these says
// nothing.
type entry struct {
	takes []int64 // tokens of each
	notes []note
}

// note is a line that says something about what is already there.
type note struct {
	kind   noteKind
	id     uint64        // of back and used
	tokens int64         // of used and wait
	span   time.Duration // of cool
	waiter string        // of wait, see waiterName
	quota  kvcache.Quota // of wait
}

type noteKind string

const (
	back noteKind = "back"
	used noteKind = "used"
	cool noteKind = "cool"
	wait noteKind = "wait"
)

// maxTakes bounds the takes of one entry, so that sequence and number fit one
// id. 54 bits of sequence are left.
const (
	takeBits = 10
	maxTakes = 1 << takeBits
)

func takeID(seq uint64, number int) uint64 { return seq<<takeBits | uint64(number) }

func (e entry) encode() []byte {
	var b []byte
	for _, tokens := range e.takes {
		b = fmt.Appendf(b, "take %d\n", tokens)
	}
	for _, n := range e.notes {
		seq, number := n.id>>takeBits, n.id%maxTakes
		switch n.kind {
		case back:
			b = fmt.Appendf(b, "back %d.%d\n", seq, number)
		case used:
			b = fmt.Appendf(b, "used %d.%d %d\n", seq, number, n.tokens)
		case cool:
			b = fmt.Appendf(b, "cool %s\n", n.span)
		case wait:
			b = fmt.Appendf(b, "wait %s %d %s %d %d\n", n.waiter, n.tokens, n.quota.Window, n.quota.Requests, n.quota.Tokens)
		}
	}
	return b
}

func decodeEntry(body []byte) entry {
	var e entry
	for line := range bytes.Lines(body) {
		word, rest, _ := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte(" "))
		switch noteKind(word) {
		case "take":
			if tokens, ok := decodeTokens(rest); ok && len(e.takes) < maxTakes {
				e.takes = append(e.takes, tokens)
			}
		case back:
			if id, ok := decodeID(rest); ok {
				e.notes = append(e.notes, note{kind: back, id: id})
			}
		case used:
			name, count, _ := bytes.Cut(rest, []byte(" "))
			id, ok := decodeID(name)
			tokens, valid := decodeTokens(count)
			if ok && valid {
				e.notes = append(e.notes, note{kind: used, id: id, tokens: tokens})
			}
		case cool:
			if span, err := time.ParseDuration(string(rest)); err == nil && span > 0 && span <= kvcache.MaxWindow {
				e.notes = append(e.notes, note{kind: cool, span: span})
			}
		case wait:
			if n, ok := decodeWait(rest); ok {
				e.notes = append(e.notes, n)
			}
		}
	}
	return e
}

func decodeWait(b []byte) (note, bool) {
	words := bytes.Split(b, []byte(" "))
	if len(words) != 5 || len(words[0]) == 0 || len(words[0]) > maxWaiterName {
		return note{}, false
	}
	tokens, ok := decodeTokens(words[1])
	window, err := time.ParseDuration(string(words[2]))
	requests, err2 := strconv.ParseInt(string(words[3]), 10, 64)
	limit, err3 := strconv.ParseInt(string(words[4]), 10, 64)
	n := note{kind: wait, waiter: string(words[0]), tokens: tokens, quota: kvcache.Quota{Window: window, Requests: requests, Tokens: limit}}
	ask := kvcache.Ask{Quota: n.quota, Tokens: tokens}
	return n, ok && err == nil && err2 == nil && err3 == nil && ask.Check() == nil
}

func decodeTokens(b []byte) (int64, bool) {
	tokens, err := strconv.ParseInt(string(b), 10, 64)
	return tokens, err == nil && tokens >= 0 && tokens <= kvcache.MaxTokens
}

func decodeID(b []byte) (uint64, bool) {
	s, n, _ := bytes.Cut(b, []byte("."))
	seq, err := strconv.ParseUint(string(s), 10, 64-takeBits)
	number, err2 := strconv.ParseUint(string(n), 10, takeBits)
	return takeID(seq, int(number)), err == nil && err2 == nil
}

// apply adds the entry with that sequence and stamp to a window.
func (e entry) apply(w *ledger.Window, seq uint64, stamp int64) {
	for number, tokens := range e.takes {
		w.Add(takeID(seq, number), stamp, tokens)
	}
	for _, n := range e.notes {
		switch n.kind {
		case back:
			w.Refund(n.id)
		case used:
			w.Settle(n.id, n.tokens)
		case cool:
			w.Cool(stamp + int64(n.span))
		}
	}
}
