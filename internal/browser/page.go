package browser

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Page is a tab.
type Page struct {
	b       *Browser
	session string
	said    []string
}

// View is how a page is looked at.
type View struct {
	Width, Height int // in CSS pixels
	Dark          bool
}

type object = map[string]any

// Open opens address in a tab of its own.
func (b *Browser) Open(address string, view View) *Page {
	b.t.Helper()
	var target struct{ TargetID string }
	b.call("", "Target.createTarget", object{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.call("", "Target.attachToTarget", object{"targetId": target.TargetID, "flatten": true}, &attached)
	p := &Page{b: b, session: attached.SessionID}
	b.mu.Lock()
	b.pages = append(b.pages, p)
	b.mu.Unlock()
	for _, domain := range []string{"Page", "Runtime", "Log"} {
		p.call(domain+".enable", nil, nil)
	}
	p.call("Performance.enable", object{"timeDomain": "threadTicks"}, nil)
	p.Look(view)
	var moved struct{ ErrorText string }
	p.call("Page.navigate", object{"url": address}, &moved)
	if moved.ErrorText != "" {
		b.t.Fatalf("open %s: %s", address, moved.ErrorText)
	}
	return p
}

// Look changes how the page is looked at.
func (p *Page) Look(view View) {
	p.b.t.Helper()
	scheme := "light"
	if view.Dark {
		scheme = "dark"
	}
	p.call("Emulation.setDeviceMetricsOverride", object{"width": view.Width, "height": view.Height, "deviceScaleFactor": 1, "mobile": false}, nil)
	p.call("Emulation.setEmulatedMedia", object{"features": []object{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
}

// Eval runs a script, which may be a promise, and decodes what it comes to.
func (p *Page) Eval(script string, into any) {
	p.b.t.Helper()
	var answer struct {
		Result struct {
			Value json.RawMessage
		}
		ExceptionDetails *struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	p.call("Runtime.evaluate", object{"expression": script, "awaitPromise": true, "returnByValue": true, "userGesture": true}, &answer)
	if e := answer.ExceptionDetails; e != nil {
		p.b.t.Fatalf("%s: %s %s", script, e.Text, e.Exception.Description)
	}
	if into != nil && len(answer.Result.Value) > 0 {
		if err := json.Unmarshal(answer.Result.Value, into); err != nil {
			p.b.t.Fatalf("%s: %v", script, err)
		}
	}
}

// Await waits until a script is true. That it throws means that it is not.
func (p *Page) Await(script string) {
	p.b.t.Helper()
	for deadline := time.Now().Add(patience / 4); ; time.Sleep(20 * time.Millisecond) {
		var yes bool
		p.Eval("(() => { try { return Boolean("+script+") } catch { return false } })()", &yes)
		if yes {
			return
		}
		if time.Now().After(deadline) {
			p.b.t.Fatalf("never true: %s\n%s", script, p.Complaints())
		}
	}
}

// Key presses and releases a key, by its DOM name.
func (p *Page) Key(key string) {
	p.b.t.Helper()
	down := object{"type": "keyDown", "key": key}
	switch {
	case key == "Enter":
		down["text"], down["windowsVirtualKeyCode"] = "\r", 13
	case key == "Tab":
		down["windowsVirtualKeyCode"] = 9
	case key == "Escape":
		down["windowsVirtualKeyCode"] = 27
	case len(key) == 1:
		down["text"] = key
	}
	p.call("Input.dispatchKeyEvent", down, nil)
	p.call("Input.dispatchKeyEvent", object{"type": "keyUp", "key": key}, nil)
}

// Shot writes a picture of the whole page into the directory $WEIR_TEST_SHOTS, for
// somebody to look at; without one it does nothing.
func (p *Page) Shot(name string) {
	p.b.t.Helper()
	dir := os.Getenv("WEIR_TEST_SHOTS")
	if dir == "" {
		return
	}
	var answer struct{ Data []byte }
	p.call("Page.captureScreenshot", object{"format": "png", "captureBeyondViewport": true}, &answer)
	if err := os.WriteFile(filepath.Join(dir, name+".png"), answer.Data, 0o600); err != nil {
		p.b.t.Fatal(err)
	}
}

// Busy is how much processor time the page's main thread has used since the page was
// opened: unlike what passes on a clock, it does not grow with the load of the machine.
func (p *Page) Busy() time.Duration {
	p.b.t.Helper()
	var answer struct {
		Metrics []struct {
			Name  string
			Value float64
		}
	}
	p.call("Performance.getMetrics", nil, &answer)
	for _, m := range answer.Metrics {
		if m.Name == "TaskDuration" {
			return time.Duration(m.Value * float64(time.Second))
		}
	}
	p.b.t.Fatal("the browser does not tell how busy it is")
	return 0
}

// Complaints are the errors and warnings of the page so far, of its policy and its
// requests too, and whatever its scripts have written to the console.
func (p *Page) Complaints() []string {
	p.b.mu.Lock()
	defer p.b.mu.Unlock()
	return append([]string{}, p.said...)
}

// happened is called with the browser's lock.
func (p *Page) happened(m message) {
	switch m.Method {
	case "Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded":
		p.said = append(p.said, fmt.Sprintf("%s %s", m.Method, m.Params))
	}
}

func (p *Page) call(method string, params, result any) {
	p.b.t.Helper()
	p.b.call(p.session, method, params, result)
}
