package wire_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/wire"
)

func TestResultHasTheContractsShape(t *testing.T) {
	when := time.Date(2026, 11, 1, 10, 0, 0, 5000, time.FixedZone("x", 3600))
	body, err := wire.EncodeResult(wire.Result{
		TenantID: "acme", DocumentID: "d", ChunkID: "c", Index: 0, Total: 1, Attempts: 1, StartedAt: when, FinishedAt: when, Worker: "w",
		Extraction: extraction.Extraction{Status: extraction.StatusOK, Model: "p/m"},
	})
	require.NoError(t, err)
	require.JSONEq(t, `{
		"schema_version":1,"tenant_id":"acme","document_id":"d","chunk_id":"c","index":0,"total":1,"status":"ok","model":"p/m",
		"prompt_version":"","output_mode":"","finish_reason":"","usage":{"prompt_tokens":0,"completion_tokens":0},"attempts":1,
		"started_at":"2026-11-01T09:00:00.000005Z","finished_at":"2026-11-01T09:00:00.000005Z","worker":"w",
		"domain":{"id":"","confidence":null,"fallback_reason":""},"entities":[],"relationships":[],
		"counters":{"dropped":0,"unresolved":0,"self_loops":0,"ungrounded":0,"clipped":0}}`, string(body))

	r, err := wire.DecodeResult(body)
	require.NoError(t, err)
	require.Equal(t, "c", r.ChunkID)
	require.True(t, when.Equal(r.StartedAt))
}

func TestBadResults(t *testing.T) {
	for _, body := range []string{``, `[]`, `{}`, `{"schema_version":2,"chunk_id":"c"}`, `{"schema_version":1}`, `{"schema_version":1,"chunk_id":"c","index":-1}`} {
		_, err := wire.DecodeResult([]byte(body))
		var invalid *wire.InvalidMessageError
		require.ErrorAs(t, err, &invalid, body)
	}
}

func FuzzDecodeResult(f *testing.F) {
	f.Add([]byte(`{"schema_version":1,"chunk_id":"c","entities":[{"id":"x","evidence":{"quote":"q"}}],"started_at":"2026-11-01T09:00:00Z"}`))
	f.Add([]byte(`{"schema_version":1}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := wire.DecodeResult(body)
		if err != nil {
			return
		}
		again, err := wire.EncodeResult(r)
		if err != nil || !json.Valid(again) {
			t.Fatalf("accepted what cannot be written: %v", err)
		}
	})
}
