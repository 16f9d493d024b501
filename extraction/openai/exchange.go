package openai

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
)

const (
	maxAnswerBytes = 8 << 20  // of a successful response; 8192 tokens are far below 1 MiB
	maxErrorBytes  = 64 << 10 // of an error response; more is not worth reading
)

var errAnswerTooBig = errors.New("the answer is too big to be one")

// exchange is one HTTP request and its response. It stands between the library
// and the network as the library's HTTP client: it completes the request, and
// keeps status, header and the bounded body, which the library drops or hides
// on most failures.
type exchange struct {
	transport http.RoundTripper
	header    map[string]string
	head      *head

	// What came back; status is 0 if nothing did.
	status   int
	response http.Header
	body     []byte
	err      error // of the connection, while sending or receiving
}

// Do sends the request. The response that it returns has been read; its body is
// an empty object, since the library has no use for it.
func (x *exchange) Do(req *http.Request) (*http.Response, error) {
	if err := x.complete(req); err != nil {
		return nil, err
	}
	res, err := x.transport.RoundTrip(req)
	if err != nil {
		x.err = err
		return nil, err
	}
	defer func() { _ = res.Body.Close() }() // everything of interest has been read
	x.status, x.response = res.StatusCode, res.Header
	limit := int64(maxErrorBytes)
	if x.succeeded() {
		limit = maxAnswerBytes
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, limit+1))
	if int64(len(body)) > limit {
		body = body[:limit]
		if x.succeeded() {
			err = errAnswerTooBig
		}
	}
	x.body, x.err = body, err
	if err != nil {
		return nil, err
	}
	res.Body = io.NopCloser(strings.NewReader("{}"))
	return res, nil
}

func (x *exchange) succeeded() bool { return x.status >= 200 && x.status < 300 }

// complete puts in what the library cannot send.
func (x *exchange) complete(req *http.Request) error {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return err
	}
	if body, err = x.head.complete(body); err != nil {
		return err
	}
	req.ContentLength = int64(len(body))
	req.Body = io.NopCloser(bytes.NewReader(body))
	// Lets net/http send again on a fresh connection when the server closed a
	// kept one at the same moment.
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	req.Header.Set("User-Agent", "weirkeeper")
	for name, value := range x.header {
		req.Header.Set(name, value)
	}
	return nil
}
