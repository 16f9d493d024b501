package browser

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"
)

// Browser is a running Chromium. It speaks the DevTools protocol over a pipe.
type Browser struct {
	t        testing.TB
	commands *os.File
	gone     chan struct{}

	mu      sync.Mutex
	last    int
	waiting map[int]chan reply
	pages   []*Page
}

type reply struct {
	result json.RawMessage
	err    error
}

// message is what comes from the browser: a reply, or something that happened.
type message struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
	Session string `json:"sessionId"`
}

func (b *Browser) listen(in *bufio.Reader) {
	defer close(b.gone)
	for {
		text, err := in.ReadBytes(0)
		if err != nil {
			return
		}
		var m message
		if json.Unmarshal(text[:len(text)-1], &m) != nil {
			continue
		}
		b.mu.Lock()
		if m.ID != 0 {
			answer := reply{result: m.Result}
			if m.Error != nil {
				answer.err = fmt.Errorf("browser: %s", m.Error.Message)
			}
			if waiting, ok := b.waiting[m.ID]; ok {
				waiting <- answer
				delete(b.waiting, m.ID)
			}
		} else if i := slices.IndexFunc(b.pages, func(p *Page) bool { return p.session == m.Session }); i >= 0 {
			b.pages[i].happened(m)
		}
		b.mu.Unlock()
	}
}

// call asks the browser for something, of a page or, for session "", of itself.
func (b *Browser) call(session, method string, params any, result any) {
	b.t.Helper()
	answered := make(chan reply, 1)
	b.mu.Lock()
	b.last++
	id := b.last
	b.waiting[id] = answered
	text, err := json.Marshal(struct {
		ID      int    `json:"id"`
		Method  string `json:"method"`
		Params  any    `json:"params,omitempty"`
		Session string `json:"sessionId,omitempty"`
	}{id, method, params, session})
	if err == nil {
		_, err = b.commands.Write(append(text, 0))
	}
	b.mu.Unlock()
	if err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
	select {
	case answer := <-answered:
		err = answer.err
		if err == nil && result != nil {
			err = json.Unmarshal(answer.result, result)
		}
	case <-b.gone:
		err = fmt.Errorf("the browser has gone")
	case <-time.After(patience):
		err = fmt.Errorf("no answer within %s", patience)
	}
	if err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
}

// leave asks the browser to end, and does not wait for an answer.
func (b *Browser) leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, _ = b.commands.WriteString(`{"id":-1,"method":"Browser.close"}` + "\x00")
}
