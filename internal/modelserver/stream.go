package modelserver

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// StreamFaults are what can be wrong with an event stream. A request that asks for
// a stream gets one, unless the behaviour has a Body or an Error; other requests
// are not concerned, except by Unasked.
type StreamFaults struct {
	Ignored      bool       `json:"ignored,omitempty"`        // the answer comes as JSON, as if no stream had been asked for
	Unasked      bool       `json:"unasked,omitempty"`        // the answer comes as a stream, whatever was asked for
	LineEnd      string     `json:"line_end,omitempty"`       // "" = LF
	KeepAlive    bool       `json:"keep_alive,omitempty"`     // a comment, an id and a retry before every event
	SplitData    bool       `json:"split_data,omitempty"`     // every event in several data lines
	NoBlankLines bool       `json:"no_blank_lines,omitempty"` // nothing between the events
	NoSpace      bool       `json:"no_space,omitempty"`       // data:{...}
	NoDone       bool       `json:"no_done,omitempty"`        // [DONE] is missing
	OneEvent     bool       `json:"one_event,omitempty"`      // the whole completion as a single event
	EmptyDeltas  bool       `json:"empty_deltas,omitempty"`   // deltas without anything, with null and with an empty text, between the others
	TwoChoices   bool       `json:"two_choices,omitempty"`    // a second answer between the events of the first
	FinishAlways bool       `json:"finish_always,omitempty"`  // finish_reason in every event with content
	AfterFinish  string     `json:"after_finish,omitempty"`   // content in an event after the one with finish_reason
	ErrorAfter   int        `json:"error_after,omitempty"`    // that many events, then ErrorEvent and the end
	ErrorEvent   *ErrorBody `json:"error_event,omitempty"`    //
	ErrorField   string     `json:"error_field,omitempty"`    // how it comes: "" = data, event = event: error and data, error = llama.cpp's own field
	BrokenAfter  int        `json:"broken_after,omitempty"`   // that many events, then one whose JSON is broken
	CutAfter     int        `json:"cut_after,omitempty"`      // that many events, then the connection is closed
	EndAfter     int        `json:"end_after,omitempty"`      // that many events, then the end as if all were well
	StallAfter   int        `json:"stall_after,omitempty"`    // that many events, then nothing until Release
}

// pieceBytes is how much of an answer one event carries.
const pieceBytes = 24

// stream sends the completion as server-sent events.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, req Request, b Behaviour, release <-chan struct{}) {
	f := b.Stream
	frames := b.frames(req)
	if b.CutBody {
		f.CutAfter = max(1, len(frames)/2)
	}
	control := http.NewResponseController(w)
	_ = control.Flush() // the headers
	for i, frame := range frames {
		switch {
		case f.CutAfter > 0 && i == f.CutAfter:
			_, _ = io.WriteString(w, frame[:len(frame)/2])
			_ = control.Flush()
			panic(http.ErrAbortHandler) // closes the connection in the middle of the body
		case f.StallAfter > 0 && i == f.StallAfter:
			select {
			case <-release:
			case <-r.Context().Done():
				return
			case <-s.closing:
				return
			}
		}
		if _, err := io.WriteString(w, frame); err != nil {
			return
		}
		_ = control.Flush()
		if !s.pause(r, time.Duration(b.DripMS)*time.Millisecond) {
			return
		}
	}
}

// frames are the events as they go over the wire.
func (b Behaviour) frames(req Request) []string {
	f := b.Stream
	events := b.events(req)
	end := len(events)
	for _, after := range []int{f.ErrorAfter, f.BrokenAfter, f.EndAfter} {
		if after > 0 {
			end = min(end, after)
		}
	}
	whole := end == len(events)
	var frames []string
	for _, event := range events[:end] {
		frames = append(frames, f.frame("data", event))
	}
	switch {
	case f.ErrorAfter > 0:
		_, body := f.ErrorEvent.render(http.StatusInternalServerError, req)
		switch f.ErrorField {
		case "error":
			frames = append(frames, f.frame("error", body))
		case "event":
			frames = append(frames, f.line("event: error")+f.frame("data", body))
		default:
			frames = append(frames, f.frame("data", body), f.frame("data", "[DONE]")) // as vLLM does
		}
	case f.BrokenAfter > 0:
		frames = append(frames, f.frame("data", `{"choices":[{"delta":`), f.frame("data", "[DONE]"))
	case whole && !f.NoDone:
		frames = append(frames, f.frame("data", "[DONE]"))
	}
	return frames
}

func (f StreamFaults) line(s string) string {
	if f.LineEnd == "" {
		return s + "\n"
	}
	return s + f.LineEnd
}

// frame is one event.
func (f StreamFaults) frame(field, data string) string {
	var out strings.Builder
	if f.KeepAlive {
		out.WriteString(f.line(": ping") + f.line("") + f.line("id: 7") + f.line("retry: 1000") + f.line("event: message"))
	}
	lines := []string{data}
	if f.SplitData && data[0] == '{' {
		lines = []string{data[:1], data[1 : len(data)-1], data[len(data)-1:]}
	}
	for _, line := range lines {
		separator := ": "
		if f.NoSpace {
			separator = ":"
		}
		out.WriteString(f.line(field + separator + line))
	}
	if !f.NoBlankLines {
		out.WriteString(f.line(""))
	}
	return out.String()
}

// events are the JSON of the events.
func (b Behaviour) events(req Request) []string {
	f := b.Stream
	if f.OneEvent {
		return []string{b.completion(req)}
	}
	c := b.complete(req)
	event := func(choices []any, usage any) string {
		fields := map[string]any{"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": req.At.Unix(), "model": req.Model, "choices": choices}
		if usage != nil {
			fields["usage"] = usage
		}
		return encode(fields)
	}
	delta := func(index int, delta, finish any) []any {
		return []any{map[string]any{"index": index, "delta": delta, "finish_reason": finish}}
	}
	var events []string
	if !b.NoChoices {
		events = append(events, event(delta(0, map[string]any{"role": "assistant", "content": ""}, nil), nil))
		for _, piece := range c.pieces() {
			var finish any
			if f.FinishAlways {
				finish = c.finish
			}
			events = append(events, event(delta(0, piece, finish), nil))
			if f.EmptyDeltas {
				events = append(events, event(delta(0, map[string]any{}, nil), nil), event(delta(0, map[string]any{"content": nil}, nil), nil),
					event(delta(0, map[string]any{"content": ""}, nil), nil), event([]any{}, nil))
			}
			if f.TwoChoices {
				events = append(events, event(delta(1, map[string]any{"content": "another answer"}, nil), nil))
			}
		}
		last := map[string]any{"index": 0, "delta": map[string]any{}, "finish_reason": c.finish}
		if b.OmitFinish {
			delete(last, "finish_reason")
		}
		events = append(events, event([]any{last}, nil))
		if f.AfterFinish != "" {
			events = append(events, event(delta(0, map[string]any{"content": f.AfterFinish}, nil), nil))
		}
	}
	if b.NoChoices || (req.StreamUsage || b.Usage != nil) && c.usage != nil {
		events = append(events, event([]any{}, c.usage))
	}
	return events
}

// pieces are the message's deltas.
func (c completed) pieces() []map[string]any {
	var pieces []map[string]any
	for _, name := range []string{"reasoning", "reasoning_content", "refusal", "content", "tool_calls"} {
		switch value := c.message[name].(type) {
		case string:
			for piece := range slices.Values(cut(value)) {
				pieces = append(pieces, map[string]any{name: piece})
			}
		case []any:
			for _, item := range value {
				pieces = append(pieces, map[string]any{name: []any{item}})
			}
		}
	}
	return pieces
}

// cut splits a text between runes.
func cut(s string) []string {
	var pieces []string
	for len(s) > pieceBytes {
		at := pieceBytes
		for at > 1 && !utf8.RuneStart(s[at]) {
			at--
		}
		pieces = append(pieces, s[:at])
		s = s[at:]
	}
	return append(pieces, s)
}
