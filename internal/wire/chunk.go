package wire

import "github.com/weirkeeper/weirkeeper/extraction"

// DecodeChunk reads a chunk and fills in what was left out: the document id
// from the text, index 0, the smallest total that the index allows (1 for index
// 0), and the chunk id. Ids that were given stay. Unknown members are ignored.
//
// The error is an [*InvalidMessageError].
func DecodeChunk(body []byte) (extraction.Chunk, error) {
	o, err := decodeObject(body)
	if err != nil {
		return extraction.Chunk{}, err
	}
	c := extraction.Chunk{
		DocumentID:     o.str("document_id"),
		Text:           o.str("text"),
		ChunkID:        o.str("chunk_id"),
		DocumentSHA256: o.str("document_sha256"),
		Title:          o.str("title"),
		URI:            o.str("uri"),
		Domain:         o.str("domain"),
		Metadata:       o.stringMap("metadata"),
	}
	c.Index, _ = o.num("index")
	var totalGiven, endGiven bool
	c.Total, totalGiven = o.num("total")
	c.ByteStart, _ = o.num("byte_start")
	c.ByteEnd, endGiven = o.num("byte_end")
	if o.err != nil {
		return extraction.Chunk{}, o.err
	}
	if err := checkChunk(c); err != nil {
		return extraction.Chunk{}, err
	}
	// Only what is absent has a default: a zero that was given is a mistake.
	switch {
	case totalGiven && c.Index >= c.Total:
		return extraction.Chunk{}, invalid("index %d is not below total %d", c.Index, c.Total)
	case endGiven && c.ByteEnd < c.ByteStart:
		return extraction.Chunk{}, invalid("byte_end %d is before byte_start %d", c.ByteEnd, c.ByteStart)
	}
	if c.DocumentID == "" {
		c.DocumentID = extraction.DocumentID(c.Text)
	}
	if c.Total == 0 {
		c.Total = c.Index + 1
	}
	if c.ChunkID == "" {
		c.ChunkID = extraction.ChunkID(c.DocumentID, c.Index, c.Text)
	}
	return c, nil
}

// EncodeChunk writes a chunk, and refuses one that [DecodeChunk] would refuse.
func EncodeChunk(c extraction.Chunk) ([]byte, error) {
	if err := checkChunk(c); err != nil {
		return nil, err
	}
	if c.ByteEnd == 0 && c.ByteStart == 0 { // it is not known where the chunk stands
		return encodeJSON(struct {
			extraction.Chunk
			ByteStart *int `json:"byte_start,omitempty"`
		}{Chunk: c})
	}
	return encodeJSON(c)
}

func checkChunk(c extraction.Chunk) error {
	if err := checkText(c.Text); err != nil {
		return err
	}
	if err := checkID("document_id", c.DocumentID); err != nil {
		return err
	}
	if err := checkID("chunk_id", c.ChunkID); err != nil {
		return err
	}
	for _, f := range []struct{ name, value string }{
		{"document_sha256", c.DocumentSHA256}, {"title", c.Title}, {"uri", c.URI}, {"domain", c.Domain},
	} {
		if err := checkString(f.name, f.value); err != nil {
			return err
		}
	}
	if err := checkMetadata(c.Metadata); err != nil {
		return err
	}
	switch {
	case c.Index < 0:
		return invalid("index %d is negative", c.Index)
	case c.Total < 0:
		return invalid("total %d is negative", c.Total)
	case c.Index == maxInt:
		return invalid("index %d is too large", c.Index)
	case c.Total > 0 && c.Index >= c.Total:
		return invalid("index %d is not below total %d", c.Index, c.Total)
	case c.ByteStart < 0:
		return invalid("byte_start %d is negative", c.ByteStart)
	case c.ByteEnd < 0:
		return invalid("byte_end %d is negative", c.ByteEnd)
	case c.ByteEnd > 0 && c.ByteEnd < c.ByteStart:
		return invalid("byte_end %d is before byte_start %d", c.ByteEnd, c.ByteStart)
	}
	return nil
}

const maxInt = int(^uint(0) >> 1)
