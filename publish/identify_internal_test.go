package publish

import (
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/wire"
)

// A document that cannot be read is found by the id that its publisher gave it.
func TestADeadDocumentIsKnownByItsHeader(t *testing.T) {
	names, err := wire.NewNames("weir")
	require.NoError(t, err)
	for body, want := range map[string]string{"Ada.": "report", " \n": "report", "\xff": "report"} {
		msg := &nats.Msg{Header: nats.Header{wire.HeaderDocumentID: {"report"}}, Data: []byte(body)}
		dead := identify(names, "acme", wire.DeadLetter{OriginSubject: names.DocumentSubject("acme")}, msg)
		require.Equal(t, want, dead.DocumentID, "%q", body)
		dead = identify(names, "acme", wire.DeadLetter{OriginSubject: names.ChunkSubject("acme")}, msg)
		require.Empty(t, dead.DocumentID, "a chunk says its document in its body")
	}
}

// In the JSON form it is in the body, whatever else is wrong with that.
func TestADeadJSONDocumentIsKnownByItsBody(t *testing.T) {
	names, err := wire.NewNames("weir")
	require.NoError(t, err)
	packed := func(body string) (nats.Header, []byte) {
		in := nats.NewMsg(names.DocumentSubject("acme"))
		in.Data = []byte(body)
		in.Header.Set(wire.HeaderContentType, "application/json; charset=utf-8")
		in.Header.Set(wire.HeaderDocumentID, "outside")
		letter := nats.NewMsg(names.DeadSubject("acme"))
		letter.Data = in.Data
		letter.Header = wire.DeadLetter{Kind: wire.KindInvalidMessage}.Header(in.Header)
		require.NoError(t, wire.FitDeadLetter(letter, 4096))
		return letter.Header, letter.Data
	}
	for body, want := range map[string]string{
		`{"document_id":"report","text":" "}`:                              "report",
		`{"title":{"a":["b"]},"document_id":"report","text":1}`:            "report",
		`{"document_id":"report","text":"cut off`:                          "report",
		`{"document_id":"report","document_id":"twice","text":"A"}`:        "report",
		`{"document_id":"report","text":"caf` + "\xe9" + `"}`:              "report",
		`{"document_id":"report","text":"` + strings.Repeat("long ", 4000): "report",
		`{"text":"cut off`:                                              "outside",
		`{"document_id":7,"text":" "}`:                                  "outside",
		`{"document_id":"\ud800","text":" "}`:                           "outside",
		`{"document_id":"a\u0000","text":" "}`:                          "outside",
		`{"document_id":"` + strings.Repeat("x", 513) + `","text":" "}`: "outside",
		`["document_id","report"]`:                                      "outside",
		`{"text":" "}`:                                                  "outside",
		"":                                                              "outside",
	} {
		header, data := packed(body)
		dead := identify(names, "acme", wire.DeadLetter{OriginSubject: names.DocumentSubject("acme")}, &nats.Msg{Header: header, Data: data})
		require.Equal(t, want, dead.DocumentID, "%.60q", body)
	}
}
