package publish

import (
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
