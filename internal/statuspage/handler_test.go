package statuspage_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/overview"
	"github.com/weirkeeper/weirkeeper/internal/statuspage"
)

// request is made of parts that a test changes.
type request struct {
	method, path, host, bearer, contentType, body string
}

func (r request) to(t *testing.T, handler http.Handler) *httptest.ResponseRecorder {
	t.Helper()
	if r.method == "" {
		r.method = http.MethodGet
	}
	req := httptest.NewRequest(r.method, r.path, strings.NewReader(r.body))
	req.Host = "127.0.0.1:9464"
	if r.host != "" {
		req.Host = r.host
	}
	if r.bearer != "" {
		req.Header.Set("Authorization", r.bearer)
	}
	if r.contentType != "" {
		req.Header.Set("Content-Type", r.contentType)
	}
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, req)
	return answer
}

func order(path, body string) request {
	return request{method: http.MethodPost, path: path, bearer: "Bearer " + token, contentType: "application/json", body: body}
}

func handler(t *testing.T, c statuspage.Config) http.Handler {
	t.Helper()
	h, err := statuspage.Handler(c)
	require.NoError(t, err)
	return h
}

func failure(t *testing.T, answer *httptest.ResponseRecorder) string {
	t.Helper()
	var body struct{ Error string }
	require.NoError(t, json.Unmarshal(answer.Body.Bytes(), &body), answer.Body)
	return body.Error
}

var reading = []string{"/api/fleet", "/api/history", "/api/letters", "/api/about"}

var ordering = []string{"/api/pause", "/api/resume", "/api/circuit/open", "/api/circuit/reset", "/api/limits/set", "/api/limits/unset", "/api/dead/replay", "/api/token"}

// A site whose name points to this machine is a stranger, whatever port it names.
func TestOnLoopbackOnlyItsOwnNamesAreAnswered(t *testing.T) {
	h := handler(t, busy(1).operated())
	for _, host := range []string{"127.0.0.1:9464", "localhost:9464", "LOCALHOST", "localhost:8080", "[::1]:9464", "::1", "127.9.9.9"} {
		for _, path := range append(reading, "/", "/status/page.js") {
			require.Equal(t, http.StatusOK, request{path: path, host: host}.to(t, h).Code, "%s %s", host, path)
		}
	}
	for _, host := range []string{"evil.example:9464", "localhost.evil.example", "127.0.0.1.evil.example", "192.168.0.7:9464", "0.0.0.0:9464", "[::]:9464", "127.0.0.1@evil.example", "localhost:80:80", " "} {
		for _, path := range append(reading, "/", "/status/page.js") {
			answer := request{path: path, host: host}.to(t, h)
			require.Equal(t, http.StatusForbidden, answer.Code, "%q %s", host, path)
			require.NotContains(t, answer.Body.String(), "tenant-")
		}
		with := order("/api/pause", `{"fleet":true,"minutes":1}`)
		with.host = host
		require.Equal(t, http.StatusForbidden, with.to(t, h).Code, host)
	}
}

func TestBeyondThisMachineLookingNeedsTheToken(t *testing.T) {
	c := busy(1).operated()
	c.Loopback = false
	h := handler(t, c)
	for _, path := range reading {
		require.Equal(t, http.StatusUnauthorized, request{path: path, host: "weir.example"}.to(t, h).Code, path)
		require.Equal(t, http.StatusOK, request{path: path, host: "weir.example", bearer: "Bearer " + token}.to(t, h).Code, path)
	}
	require.Equal(t, http.StatusOK, request{path: "/", host: "weir.example"}.to(t, h).Code, "the page itself has nothing of the fleet")

	c = busy(1).config()
	c.Loopback = false
	h = handler(t, c)
	for _, path := range reading {
		for _, bearer := range []string{"", "Bearer ", "Bearer " + token} {
			answer := request{path: path, host: "weir.example", bearer: bearer}.to(t, h)
			require.Equal(t, http.StatusForbidden, answer.Code, path)
			require.Contains(t, failure(t, answer), "--token-file")
		}
	}
}

func TestOrdersNeedTheToken(t *testing.T) {
	w := busy(1)
	h := handler(t, w.operated())
	for _, path := range ordering {
		for _, bearer := range []string{"", "Bearer", "Bearer ", "Bearer " + token + "x", "Bearer " + token[1:], "bearer " + token, "Basic " + token, token} {
			with := order(path, `{}`)
			with.bearer = bearer
			answer := with.to(t, h)
			require.Equal(t, http.StatusUnauthorized, answer.Code, "%s %q", path, bearer)
			require.Contains(t, answer.Header().Get("WWW-Authenticate"), "Bearer")
			require.Contains(t, failure(t, answer), "token")
			require.NotContains(t, answer.Body.String(), token)
		}
	}
	h = handler(t, w.config())
	for _, path := range ordering {
		answer := order(path, `{}`).to(t, h)
		require.Equal(t, http.StatusForbidden, answer.Code, path)
		require.Contains(t, failure(t, answer), "--token-file")
	}
	require.Empty(t, w.taken())
}

// Who replaces the token need not start the worker again, and what is no token lets
// nobody in.
func TestTheTokenMayChange(t *testing.T) {
	w := busy(1)
	now := token
	c := w.operated()
	c.Token = func() string { return now }
	h := handler(t, c)
	with := order("/api/resume", `{"fleet":true}`)
	require.Equal(t, http.StatusOK, with.to(t, h).Code)
	now = "another-token-of-a-test"
	require.Equal(t, http.StatusUnauthorized, with.to(t, h).Code)
	with.bearer = "Bearer " + now
	require.Equal(t, http.StatusOK, with.to(t, h).Code)
	for _, now = range []string{"", "short"} {
		with.bearer = "Bearer " + now
		require.Equal(t, http.StatusUnauthorized, with.to(t, h).Code)
	}
}

func TestOrdersReachTheOperator(t *testing.T) {
	w := busy(1)
	var log bytes.Buffer
	c := w.operated()
	c.Logger = slog.New(slog.NewTextHandler(&log, nil))
	h := handler(t, c)
	for _, step := range []struct{ path, body, want string }{
		{"/api/pause", `{"tenant":"acme","minutes":30,"reason":"too dear"}`, "pause {Target:{Tenant:acme Fleet:false} Minutes:30 Reason:too dear}"},
		{"/api/resume", `{"fleet":true}`, "resume {Tenant: Fleet:true}"},
		{"/api/circuit/open", `{"circuit":"default","reason":"x"}`, "open {Circuit:default Reason:x}"},
		{"/api/circuit/reset", `{"circuit":"default"}`, "reset {Circuit:default Reason:}"},
		{"/api/limits/set", `{"tenant":"acme","rpm":7,"window_ms":null}`, "set acme 7 - -"},
		{"/api/limits/unset", `{"tenant":"acme"}`, "unset {Tenant:acme Fleet:false}"},
		{"/api/dead/replay", `{"kind":"malformed"}`, "replay {Kind:malformed Tenant: Letter:0}"},
		{"/api/token", `{}`, ""},
	} {
		before := len(w.taken())
		answer := order(step.path, step.body).to(t, h)
		require.Equal(t, http.StatusOK, answer.Code, answer.Body)
		require.Contains(t, answer.Body.String(), `"done":`)
		if step.want != "" {
			require.Equal(t, step.want, w.taken()[before])
			require.Contains(t, log.String(), "path="+step.path)
		}
	}
	require.NotContains(t, log.String(), token)
	require.Contains(t, log.String(), "too dear", "who gave which order is known later")
	require.Contains(t, log.String(), `\"rpm\":7`, "and no pointers")

	w.change(func() { w.refusal = &statuspage.RefusedError{Reason: "a pause lasts\nlonger"} })
	answer := order("/api/pause", `{"fleet":true}`).to(t, h)
	require.Equal(t, http.StatusUnprocessableEntity, answer.Code)
	require.Equal(t, "a pause lasts longer", failure(t, answer))
	w.change(func() { w.refusal = errors.New("bucket weir_pause: nats: timeout") })
	answer = order("/api/pause", `{"fleet":true}`).to(t, h)
	require.Equal(t, http.StatusBadGateway, answer.Code)
	require.Contains(t, failure(t, answer), "nats: timeout")
}

func TestOrdersAreReadStrictly(t *testing.T) {
	w := busy(1)
	h := handler(t, w.operated())
	for _, body := range []string{``, `[]`, `7`, `"x"`, `{"tenat":"acme"}`, `{"tenant":7}`, `{"tenant":"a"}{}`, `{"tenant":"a"} x`, `{"tenant":"` + strings.Repeat("x", 20_000) + `"}`, `{"tenant":"a","minutes":1e99}`} {
		answer := order("/api/pause", body).to(t, h)
		require.Equal(t, http.StatusBadRequest, answer.Code, body)
		require.NotEmpty(t, failure(t, answer))
	}
	require.Equal(t, "want one JSON object, not an empty body", failure(t, order("/api/pause", " ").to(t, h)))
	for _, kind := range []string{"", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"} { // what a form of another site can send
		with := order("/api/resume", `{"fleet":true}`)
		with.contentType = kind
		require.Equal(t, http.StatusBadRequest, with.to(t, h).Code, kind)
	}
	require.Empty(t, w.taken())
}

func TestMethods(t *testing.T) {
	h := handler(t, busy(1).operated())
	for _, path := range append(reading, "/", "/status/page.js") {
		for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions} {
			answer := request{method: method, path: path}.to(t, h)
			require.Equal(t, http.StatusMethodNotAllowed, answer.Code, "%s %s", method, path)
			require.Equal(t, "GET, HEAD", answer.Header().Get("Allow"), path)
			if strings.HasPrefix(path, "/api/") {
				require.Equal(t, path+" takes only GET, HEAD", failure(t, answer))
			}
		}
		require.Equal(t, http.StatusOK, request{method: http.MethodHead, path: path}.to(t, h).Code, path)
	}
	for _, path := range ordering {
		for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodOptions} {
			answer := request{method: method, path: path, bearer: "Bearer " + token}.to(t, h)
			require.Equal(t, http.StatusMethodNotAllowed, answer.Code, "%s %s", method, path)
			require.Equal(t, path+" takes only POST", failure(t, answer))
			require.Equal(t, "POST", answer.Header().Get("Allow"))
			require.Empty(t, answer.Header().Get("Access-Control-Allow-Origin"))
		}
	}
	for _, path := range []string{"/other", "/status/", "/status/index.html", "/status/../handler.go", "/api/", "/api/fleet/x", "/favicon.ico"} {
		require.NotEqual(t, http.StatusOK, request{path: path}.to(t, h).Code, path)
	}
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		answer := request{method: method, path: "/api/fleet/x"}.to(t, h)
		require.Equal(t, http.StatusNotFound, answer.Code)
		require.Contains(t, failure(t, answer), "docs/status-page.md")
	}
}

// The page has no script or style of its own in it, loads only what is in the binary,
// and every answer forbids anything else.
func TestThePageIsSelfContained(t *testing.T) {
	h := handler(t, busy(1).config())
	page := request{path: "/"}.to(t, h)
	require.Equal(t, "text/html; charset=utf-8", page.Header().Get("Content-Type"))
	html := page.Body.String()
	require.NotRegexp(t, `<script(?: type="module")?>|<style|\sstyle=|\son[a-z]+=|javascript:`, html)
	seen := map[string]bool{}
	todo := []string{}
	for _, found := range regexp.MustCompile(`(?:src|href)="([^"#]+)"`).FindAllStringSubmatch(html, -1) {
		todo = append(todo, found[1])
	}
	for len(todo) > 0 {
		path := todo[0]
		todo = todo[1:]
		if seen[path] {
			continue
		}
		seen[path] = true
		require.Regexp(t, `^/status/[a-z]+\.(js|css|svg)$`, path)
		file := request{path: path}.to(t, h)
		require.Equal(t, http.StatusOK, file.Code, path)
		want := map[string]string{"js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8", "svg": "image/svg+xml"}[path[strings.LastIndex(path, ".")+1:]]
		require.Equal(t, want, file.Header().Get("Content-Type"), path)
		text := file.Body.String()
		for _, found := range regexp.MustCompile(`from "\./([a-z]+\.js)"`).FindAllStringSubmatch(text, -1) {
			todo = append(todo, "/status/"+found[1])
		}
		require.NotRegexp(t, `innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|@import|url\(`, text, path)
		for _, address := range regexp.MustCompile(`https?://[^"\s]+`).FindAllString(text, -1) {
			require.Equal(t, "http://www.w3.org/2000/svg", address, path)
		}
	}
	require.GreaterOrEqual(t, len(seen), 12)

	for _, path := range append(reading, "/", "/status/page.js", "/other", "/api/pause") {
		header := request{path: path}.to(t, h).Header()
		require.Contains(t, header.Get("Content-Security-Policy"), "default-src 'none'; script-src 'self';", path)
		require.NotContains(t, header.Get("Content-Security-Policy"), "unsafe")
		require.Contains(t, header.Get("Content-Security-Policy"), "frame-ancestors 'none'")
		require.Equal(t, "nosniff", header.Get("X-Content-Type-Options"))
		require.Equal(t, "no-referrer", header.Get("Referrer-Policy"))
	}
	for _, path := range reading {
		require.Equal(t, "no-store", request{path: path}.to(t, h).Header().Get("Cache-Control"), path)
	}
	require.Equal(t, "no-cache", page.Header().Get("Cache-Control"))
	again := httptest.NewRequest(http.MethodGet, "http://localhost/", nil)
	again.Header.Set("If-None-Match", page.Header().Get("ETag"))
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, again)
	require.Equal(t, http.StatusNotModified, answer.Code)
	require.Empty(t, answer.Body.String())
}

func TestTheFleetIsReadAtMostEveryTwoSeconds(t *testing.T) {
	w := busy(3)
	now := time.Now()
	var mu sync.Mutex
	c := w.config()
	c.Clock = func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return now
	}
	pass := func(d time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(d)
	}
	h := handler(t, c)
	require.Zero(t, w.reads, "nobody has looked")
	look := func() map[string]any {
		answer := request{path: "/api/fleet"}.to(t, h)
		require.Equal(t, http.StatusOK, answer.Code)
		var body map[string]any
		require.NoError(t, json.Unmarshal(answer.Body.Bytes(), &body))
		return body
	}
	var viewers sync.WaitGroup
	for range 50 {
		viewers.Go(func() { request{path: "/api/fleet"}.to(t, h) })
	}
	viewers.Wait()
	require.Equal(t, 1, w.reads)
	pass(1999 * time.Millisecond)
	look()
	require.Equal(t, 1, w.reads)
	pass(time.Millisecond)
	first := look()
	require.Equal(t, 2, w.reads)
	require.NotContains(t, first, "error")
	require.Len(t, first["tenants"], 3)

	// What is known stays, with its age and the reason.
	w.change(func() { w.err = errors.New("nats: no servers\navailable for connection") })
	pass(2 * time.Second)
	stale := look()
	require.Equal(t, "nats: no servers available for connection", stale["error"])
	require.Equal(t, first["at"], stale["at"])
	require.Len(t, stale["tenants"], 3)
	reads := w.reads
	look()
	require.Equal(t, reads, w.reads, "who is away is not asked more often either")
	w.change(func() { w.err = nil })
	pass(2 * time.Second)
	require.NotContains(t, look(), "error")

	never := &world{err: errors.New("away"), fleet: overview.Fleet{}}
	answer := request{path: "/api/fleet"}.to(t, handler(t, never.config()))
	require.Equal(t, http.StatusServiceUnavailable, answer.Code)
	require.Equal(t, "away", failure(t, answer))
}

func TestConfigIsChecked(t *testing.T) {
	good := busy(1).operated()
	for field, spoil := range map[string]func(*statuspage.Config){
		"Fleet":    func(c *statuspage.Config) { c.Fleet = nil },
		"History":  func(c *statuspage.Config) { c.History = nil },
		"Letters":  func(c *statuspage.Config) { c.Letters = nil },
		"Token":    func(c *statuspage.Config) { c.Token = func() string { return "short" } },
		"Operator": func(c *statuspage.Config) { c.Operator = nil },
	} {
		c := good
		spoil(&c)
		_, err := statuspage.Handler(c)
		var wrong *statuspage.ConfigError
		require.ErrorAs(t, err, &wrong)
		require.Equal(t, field, wrong.Field)
		require.NotContains(t, err.Error(), "short\"")
	}
}

// Whatever is sent, an order is carried out or the answer says why not.
func FuzzOrders(f *testing.F) {
	w := busy(1)
	h, err := statuspage.Handler(w.operated())
	require.NoError(f, err)
	for _, seed := range []string{`{"tenant":"acme","minutes":30}`, `{"fleet":true}`, `{"letter":7}`, `{"tenant":"\ud800"}`, `[`, `{"rpm":null}`, `{"minutes":1e3}`} {
		for i := range ordering {
			f.Add(uint8(i), seed)
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, body string) {
		answer := order(ordering[int(which)%len(ordering)], body).to(t, h)
		text, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		var said struct{ Done, Error string }
		require.NoError(t, json.Unmarshal(text, &said))
		switch answer.Code {
		case http.StatusOK:
			require.NotEmpty(t, said.Done)
		case http.StatusBadRequest:
			require.NotEmpty(t, said.Error)
		default:
			require.Fail(t, "unexpected status", "%d %s", answer.Code, text)
		}
	})
}

// Only a name of the loopback interface is taken for one.
func FuzzHosts(f *testing.F) {
	h, err := statuspage.Handler(busy(1).config())
	require.NoError(f, err)
	for _, seed := range []string{"localhost", "127.0.0.1:80", "[::1]:80", "evil.example", "", ":", "[", "localhost.", "127.1", "0x7f000001", "::ffff:127.0.0.1"} {
		f.Add(seed)
	}
	own := regexp.MustCompile(`^(?i:localhost|\[?(?:127\.\d+\.\d+\.\d+|[0:]*:0*1|[0:]*:ffff:(?:127\.\d+\.\d+\.\d+|7f[0-9a-f]{2}:[0-9a-f]{1,4}))\]?)(?::[^\]]*)?$`)
	f.Fuzz(func(t *testing.T, host string) {
		if host == "" {
			return
		}
		if (request{path: "/", host: host}).to(t, h).Code == http.StatusOK {
			require.Regexp(t, own, host)
		}
	})
}
