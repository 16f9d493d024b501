package openai

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
)

const (
	maxAnswerBytes = 8 << 20  // of a successful response; 8192 tokens are far below 1 MiB
	maxErrorBytes  = 64 << 10 // of an error response; more is not worth reading

	maxSniffedBytes = 4 << 10 // of white space before what tells an event stream from other bodies
)

var errAnswerTooBig = errors.New("the answer is too big to be one")

// exchange is one HTTP request and its response. It stands between the library
// and the network as the library's HTTP client: it puts in the body, and
// keeps status, header and what the bounded body says, which the library drops or
// hides on most failures.
type exchange struct {
	transport http.RoundTripper
	header    map[string]string
	body      []byte
	watch     *watch // of a streamed request

	// What came back; status is 0 if nothing did.
	status   int
	response http.Header
	reply    reply  // of a successful response
	refusal  []byte // the body of any other
	err      error  // of the connection, while sending or receiving
}

// Do sends the request. The response that it returns has been read; its body is
// an empty object, since the library has no use for it.
func (x *exchange) Do(req *http.Request) (*http.Response, error) {
	x.complete(req)
	res, err := x.transport.RoundTrip(req)
	if err != nil {
		x.err = err
		return nil, err
	}
	defer func() { _ = res.Body.Close() }() // everything of interest has been read
	x.status, x.response = res.StatusCode, res.Header
	if x.succeeded() {
		x.err = x.receive(res)
	} else {
		x.err = x.refused(res)
	}
	x.watch.stop()
	if x.err != nil {
		if cause := context.Cause(req.Context()); errors.Is(cause, errSilent) {
			x.err = cause
		}
		return nil, x.err
	}
	res.Body = io.NopCloser(strings.NewReader("{}"))
	return res, nil
}

func (x *exchange) succeeded() bool { return x.status >= 200 && x.status < 300 }

// refused reads any other response. Of a long one, the beginning will do.
func (x *exchange) refused(res *http.Response) error {
	var body bytes.Buffer
	grow(&body, res, maxErrorBytes)
	err := readUpTo(&body, res, maxErrorBytes)
	x.refusal = body.Bytes()
	if errors.Is(err, errAnswerTooBig) {
		return nil
	}
	return err
}

// receive reads a successful response. It goes by what comes, not by what was
// asked for: there are servers that stream unasked, and others that never do.
func (x *exchange) receive(res *http.Response) error {
	var body bytes.Buffer
	grow(&body, res, maxAnswerBytes)
	var err error
	start := []byte(nil)
	for err == nil && mayBeEvents(start) && body.Len() < maxSniffedBytes {
		body.Grow(bytes.MinRead)
		room := body.AvailableBuffer()
		var n int
		n, err = res.Body.Read(room[:cap(room)])
		body.Write(room[:n])
		start = trimStart(body.Bytes())
	}
	if isEvents(start) && (err == nil || errors.Is(err, io.EOF)) {
		x.reply, err = readStream(io.MultiReader(bytes.NewReader(start), res.Body), x.watch)
		return err
	}
	if err == nil {
		err = readUpTo(&body, res, maxAnswerBytes)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	x.reply = readReply(body.Bytes())
	return nil
}

// grow makes room for a body that has told its length.
func grow(body *bytes.Buffer, res *http.Response, limit int64) {
	if known := res.ContentLength; known > 0 && known <= limit {
		body.Grow(int(known) + bytes.MinRead) // ReadFrom wants to see the end
	}
}

// readUpTo reads the rest of a body of at most limit bytes; of a longer one the
// beginning, and returns errAnswerTooBig.
func readUpTo(body *bytes.Buffer, res *http.Response, limit int64) error {
	_, err := body.ReadFrom(io.LimitReader(res.Body, limit+1-int64(body.Len())))
	if int64(body.Len()) > limit {
		body.Truncate(int(limit))
		return errAnswerTooBig
	}
	return err
}

// complete puts in what the library cannot send.
func (x *exchange) complete(req *http.Request) {
	req.ContentLength = int64(len(x.body))
	// Lets net/http send again on a fresh connection when the server closed a
	// kept one at the same moment.
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(x.body)), nil }
	req.Body, _ = req.GetBody()
	req.Header.Set("User-Agent", "weirkeeper")
	for name, value := range x.header {
		req.Header.Set(name, value)
	}
}
