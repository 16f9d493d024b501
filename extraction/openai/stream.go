package openai

import (
	"errors"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

// graceTime is how long a stream may take to end once the answer is complete:
// usage comes last, and a connection that is read to its end can be used again.
const graceTime = 500 * time.Millisecond

// assembly puts a streamed answer together.
type assembly struct {
	reply    reply
	content  strings.Builder
	choices  bool // there was a list of choices, if an empty one
	chosen   bool // there was a choice
	filtered bool // the prompt, by the server's filter
	done     bool // [DONE]
	finished bool // there was a finish_reason
	// late: content followed a finish_reason. Then that is no sign of the end: some
	// gateways send one with every event.
	late bool
}

// readStream reads an event stream to its end. The error is that of the
// connection; whatever the server says is in the reply. Success takes a
// finish_reason: a stream that breaks off in a proxy, or behind one, ends like any
// other. After the first event, and then for shorter when the answer is complete, no
// longer than the watch allows may pass in silence.
func readStream(body io.Reader, w *watch) (reply, error) {
	var a assembly
	stream := newEvents(w.over(body))
	for a.reply.fault == nil && !a.done {
		next, err := stream.read()
		if err != nil {
			return a.end(err)
		}
		a.add(next)
		w.begin(a.complete())
	}
	if a.done && w != nil {
		_, _ = io.CopyN(io.Discard, w.over(body), 4<<10) // nothing should follow but the end
	}
	return a.end(io.EOF)
}

// complete reports whether the answer is whole, and no more than usage can follow.
func (a *assembly) complete() bool { return a.finished && !a.late }

// add takes one event in.
func (a *assembly) add(next event) {
	switch {
	case next.done():
		a.done = true
		return
	case next.failed:
		a.reply.fault = errorInSuccess(next.data)
		return
	case isNull(next.data):
		return
	}
	var e envelope
	stated, err := open(next.data, &e)
	if err != nil {
		a.reply.fault = unavailable("an event of the stream is " + sortOf(next.data))
		return
	}
	if stated == nil && !utf8.Valid(next.data) {
		stated = notUTF8()
	}
	if a.reply.fault = stated; stated != nil {
		return
	}
	if e.Usage != nil { // only the last count is of the whole answer
		a.reply.usage, a.reply.cached = e.Usage.read(), e.Usage.cached()
	}
	if model := text(e.Model); model != "" {
		a.reply.model = model
	}
	a.choices = a.choices || e.Choices != nil
	a.filtered = a.filtered || filtered(e.Filter)
	for i := range e.Choices {
		c := &e.Choices[i]
		if index := text(c.Index); index != "" && index != "0" {
			continue // another answer, which nobody has asked for
		}
		a.choice(c)
	}
}

func (a *assembly) choice(c *choice) {
	if a.reply.fault = c.errorOfChoice(); a.reply.fault != nil {
		return
	}
	a.chosen = true
	a.piece(&c.Delta)
	if a.content.Len() == 0 { // some servers send all of it at once, as the message
		a.piece(&c.Message)
	}
	finish := text(c.FinishReason)
	if finish == "" {
		return
	}
	a.finished = true
	if before := a.reply.finish; before == "" || before == "stop" { // a cut stays a cut
		a.reply.finish = finish
	}
}

// piece takes in what an event adds to the answer.
func (a *assembly) piece(m *message) {
	content, refusal, ok := contentText(m.Content)
	a.reply.odd = a.reply.odd || !ok
	a.late = a.late || a.finished && content != ""
	a.content.WriteString(content)
	a.reply.refusal += text(m.Refusal) + refusal
	a.reply.called = a.reply.called || m.called()
	a.reply.reasoned = a.reply.reasoned || m.reasoned()
	if a.content.Len() > maxAnswerBytes || len(a.reply.refusal) > maxErrorBytes {
		a.reply.fault = unavailable(errStreamTooBig.Error())
	}
}

// end is the reply of a stream that ended with err, io.EOF if it was in order.
func (a *assembly) end(err error) (reply, error) {
	switch inOrder := a.done || errors.Is(err, io.EOF); {
	case a.reply.fault != nil:
	case !inOrder && !a.complete():
		return reply{}, err
	case a.finished:
		a.reply.content = a.content.String()
	case a.done && a.choices && !a.chosen:
		a.reply.fault = noChoices(a.filtered)
	default:
		a.reply.fault = unavailable("the stream ended without a finish_reason: it is not the whole answer")
	}
	return a.reply, nil
}
