package tagger

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
)

// The weights' format, gzipped: the magic, the number of labels, a digest of
// the word lists that the weights were learned with, the label steps (4 bytes each), the common words' hashes, the features' hashes, then
// for each feature in order how many weights follow, and those: label, weight.
// Hashes are sorted and stored as differences, numbers as varints.
const magic = "weirtag1"

// ErrWeights is returned for data that are not the weights of this tagger.
var ErrWeights = errors.New("not a weights file of this tagger")

// maxDecoded bounds what a weights file may unpack to, in bytes.
const maxDecoded = 64 << 20

const digestSize = 8

func lexiconDigest() []byte {
	sum := sha256.Sum256([]byte(lexiconText))
	return sum[:digestSize]
}

// Encode returns the model as a weights file.
func (m *Model) Encode() ([]byte, error) {
	b := append([]byte(magic), byte(numLabels))
	b = append(b, lexiconDigest()...)
	for _, from := range m.steps {
		for _, w := range from {
			b = binary.LittleEndian.AppendUint32(b, uint32(w))
		}
	}
	common := make([]uint32, 0, len(m.common))
	for h := range m.common {
		common = append(common, h)
	}
	slices.Sort(common)
	b = appendSorted(b, common)
	features := m.table.sorted()
	b = appendSorted(b, features)
	for _, f := range features {
		n := 0
		for _, w := range m.table.rows[m.table.find(f)] {
			if w != 0 {
				n++
			}
		}
		b = append(b, byte(n))
	}
	for _, f := range features {
		for l, w := range m.table.rows[m.table.find(f)] {
			if w != 0 {
				b = append(b, byte(l))
			}
		}
	}
	for _, f := range features {
		for _, w := range m.table.rows[m.table.find(f)] {
			if w != 0 {
				b = append(b, byte(int8(w)))
			}
		}
	}
	var out bytes.Buffer
	zip, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := zip.Write(b); err != nil {
		return nil, err
	}
	if err := zip.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func appendSorted(b []byte, hashes []uint32) []byte {
	b = binary.AppendUvarint(b, uint64(len(hashes)))
	last := uint32(0)
	for _, h := range hashes {
		b = binary.AppendUvarint(b, uint64(h-last))
		last = h
	}
	return b
}

// Fingerprint identifies the weights in a file, in a few milliseconds and without
// keeping them.
func Fingerprint(data []byte) (string, error) {
	zip, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrWeights, err)
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, io.LimitReader(zip, maxDecoded)); err != nil {
		return "", fmt.Errorf("%w: %w", ErrWeights, err)
	}
	return shortened(sum.Sum(nil)), nil
}

func shortened(sum []byte) string { return hex.EncodeToString(sum[:4]) }

// Decode reads a weights file. The fingerprint is that of [Fingerprint]; it does
// not depend on how the weights were packed.
func Decode(data []byte) (m *Model, fingerprint string, err error) {
	zip, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, "", fmt.Errorf("%w: %w", ErrWeights, err)
	}
	raw, err := io.ReadAll(io.LimitReader(zip, maxDecoded))
	if err != nil {
		return nil, "", fmt.Errorf("%w: %w", ErrWeights, err)
	}
	r := &reader{data: raw}
	m = newModel()
	m.common = map[uint32]bool{}
	if string(r.take(len(magic))) != magic || r.byte() != byte(numLabels) {
		return nil, "", ErrWeights
	}
	if !bytes.Equal(r.take(digestSize), lexiconDigest()) {
		return nil, "", fmt.Errorf("%w: learned with other word lists, train again", ErrWeights)
	}
	for p := range m.steps {
		for l := range m.steps[p] {
			if b := r.take(4); b != nil {
				m.steps[p][l] = int32(binary.LittleEndian.Uint32(b))
			}
		}
	}
	for _, h := range r.sorted() {
		m.common[h] = true
	}
	features := r.sorted()
	counts := r.take(len(features))
	if r.failed {
		return nil, "", ErrWeights
	}
	total := 0
	for _, n := range counts {
		total += int(n)
	}
	labels, weights := r.take(total), r.take(total)
	if r.failed || len(r.data) != 0 {
		return nil, "", ErrWeights
	}
	m.table = newTable(len(features))
	at := 0
	for i, f := range features {
		r := &m.table.rows[m.table.insert(f)]
		for range counts[i] {
			if int(labels[at]) >= numLabels {
				return nil, "", ErrWeights
			}
			r[labels[at]] = int16(int8(weights[at]))
			at++
		}
	}
	m.freeze()
	sum := sha256.Sum256(raw)
	return m, shortened(sum[:]), nil
}

// reader takes values off the front of data; after the first failure it
// returns nothing more.
type reader struct {
	data   []byte
	failed bool
}

func (r *reader) take(n int) []byte {
	if r.failed || n < 0 || n > len(r.data) {
		r.failed = true
		return nil
	}
	out := r.data[:n]
	r.data = r.data[n:]
	return out
}

func (r *reader) byte() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) sorted() []uint32 {
	n := r.varint()
	if n > uint64(len(r.data)) {
		r.failed = true
		return nil
	}
	out := make([]uint32, n)
	last := uint32(0)
	for i := range out {
		last += uint32(r.varint())
		out[i] = last
	}
	return out
}

func (r *reader) varint() uint64 {
	v, n := binary.Uvarint(r.data)
	if r.failed || n <= 0 {
		r.failed = true
		return 0
	}
	r.data = r.data[n:]
	return v
}
