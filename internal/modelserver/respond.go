package modelserver

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const dripBytes = 16

// respond plays a behaviour and returns the status that was sent, 0 for none.
// A request that hangs goes on when release is closed.
func (s *Server) respond(w http.ResponseWriter, r *http.Request, req Request, b Behaviour, release <-chan struct{}) int {
	if b.Hang {
		select {
		case <-release:
		case <-r.Context().Done():
			return 0
		case <-s.closing:
			return 0
		}
	}
	if !s.pause(r, time.Duration(b.DelayMS)*time.Millisecond) {
		return 0
	}
	if b.Reset {
		reset(w)
		return 0
	}

	status := b.Status
	if status == 0 {
		status = http.StatusOK
	}
	if b.streams(req) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		for name, value := range b.Header {
			w.Header().Set(name, value)
		}
		w.WriteHeader(status)
		s.stream(w, r, req, b, release)
		return status
	}
	contentType, body := b.payload(status, req)
	if b.ContentType != "" {
		contentType = b.ContentType
	}
	w.Header().Set("Content-Type", contentType)
	for name, value := range b.Header {
		w.Header().Set(name, value)
	}
	if b.PadBytes == 0 {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	}
	w.WriteHeader(status)
	s.send(w, r, b, body)
	return status
}

// send writes the body in the way the behaviour says. Write errors mean that
// the client has gone, which is its right.
func (s *Server) send(w http.ResponseWriter, r *http.Request, b Behaviour, body string) {
	if b.PadBytes > 0 {
		spaces := strings.Repeat(" ", 64<<10)
		for left := b.PadBytes; left > 0; left -= len(spaces) {
			if _, err := io.WriteString(w, spaces); err != nil {
				return
			}
		}
	}
	if b.CutBody {
		_, _ = io.WriteString(w, body[:len(body)/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler) // closes the connection in the middle of the body
	}
	for b.DripMS > 0 && len(body) > dripBytes {
		if _, err := io.WriteString(w, body[:dripBytes]); err != nil {
			return
		}
		_ = http.NewResponseController(w).Flush()
		body = body[dripBytes:]
		if !s.pause(r, time.Duration(b.DripMS)*time.Millisecond) {
			return
		}
	}
	_, _ = io.WriteString(w, body)
}

// pause waits and reports whether the client and the server are still there.
func (s *Server) pause(r *http.Request, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
		return false
	case <-s.closing:
		return false
	}
}

// reset closes the connection with a TCP reset instead of a response.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// streams reports whether the answer is a stream of events.
func (b Behaviour) streams(req Request) bool {
	return b.Body == nil && b.Error == nil && b.PadBytes == 0 && !b.Stream.Ignored && (req.Stream || b.Stream.Unasked)
}

func (b Behaviour) payload(status int, req Request) (contentType, body string) {
	switch {
	case b.Body != nil:
		return "application/json", req.expand(*b.Body)
	case b.Error != nil:
		return b.Error.render(status, req)
	default:
		return "application/json", b.completion(req)
	}
}

// completed is a completion before it is written, as JSON or as events.
type completed struct {
	message map[string]any
	finish  any
	usage   any // nil if it is left out
}

func (b Behaviour) complete(req Request) completed {
	content := ""
	if b.Content != nil {
		content = *b.Content
	} else {
		content = Answer(req.Text).JSON()
	}
	content = b.Prefix + content + b.Suffix
	if b.CutContent {
		content = content[:len(content)/2]
	}

	message := map[string]any{"role": "assistant", "content": content}
	if b.Refusal != "" {
		message["refusal"] = b.Refusal
	}
	switch {
	case b.ContentNull:
		message["content"] = nil
	case b.ContentArray:
		message["content"] = []any{map[string]any{"type": "text", "text": content}}
	case b.ToolCall:
		message["content"] = nil
		message["tool_calls"] = []any{map[string]any{
			"id": "call_1", "type": "function", "function": map[string]any{"name": "extract", "arguments": content},
		}}
	case b.ReasoningField != "":
		message["content"] = nil
		message[b.ReasoningField] = content
	}

	c := completed{message: message, finish: "stop"}
	switch {
	case b.FinishReason != nil && *b.FinishReason == "":
		c.finish = nil
	case b.FinishReason != nil:
		c.finish = *b.FinishReason
	}
	switch {
	case b.OmitUsage:
	case b.Usage != nil:
		c.usage = json.RawMessage(b.Usage)
	default:
		in, out := tokens(req.System, req.Text), tokens(content)
		c.usage = map[string]any{"prompt_tokens": in, "completion_tokens": out, "total_tokens": in + out}
	}
	return c
}

func (b Behaviour) completion(req Request) string {
	c := b.complete(req)
	choice := map[string]any{"index": 0, "message": c.message, "finish_reason": c.finish}
	if b.OmitFinish {
		delete(choice, "finish_reason")
	}
	response := map[string]any{
		"id": "chatcmpl-" + strconv.Itoa(req.Seq), "object": "chat.completion", "created": req.At.Unix(),
		"model": req.Model, "choices": []any{choice},
	}
	if b.NoChoices {
		response["choices"] = []any{}
	}
	if c.usage != nil {
		response["usage"] = c.usage
	}
	return encode(response)
}
