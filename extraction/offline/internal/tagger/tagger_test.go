package tagger_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/extraction/offline/internal/prose"
	"github.com/weirkeeper/weirkeeper/extraction/offline/internal/tagger"
)

var options = tagger.Options{Rounds: 5, Seed: 1, Scale: 2, Keep: 1}

// examples teach that Grunz is a person and Fnord a city.
func examples() []tagger.Example {
	var out []tagger.Example
	add := func(text string, names ...tagger.Mention) {
		out = append(out, tagger.Example{Text: text, Sentences: prose.Split(text), Names: [][]tagger.Mention{names}})
	}
	for range 3 {
		add("Bob Grunz went to Fnord today.", tagger.Mention{From: 0, To: 2, Type: tagger.Person}, tagger.Mention{From: 4, To: 5, Type: tagger.Location})
		add("The people of Fnord saw Grunz.", tagger.Mention{From: 3, To: 4, Type: tagger.Location}, tagger.Mention{From: 5, To: 6, Type: tagger.Person})
		add("Nothing happened to the people today.")
	}
	return out
}

func tag(t *testing.T, m *tagger.Model, text string) map[string]string {
	t.Helper()
	s := prose.Split(text)
	found, err := m.Tag(t.Context(), text, s)
	require.NoError(t, err)
	out := map[string]string{}
	for i, names := range found {
		for _, n := range names {
			out[n.Text(text, s[i])] = n.Type.String()
		}
	}
	return out
}

func TestLearnsWhatItIsShown(t *testing.T) {
	m := tagger.Learn(examples(), options)
	require.Equal(t, map[string]string{"Bob Grunz": "person", "Fnord": "location"}, tag(t, m, "Bob Grunz went to Fnord today."))
	require.Empty(t, tag(t, m, "Nothing happened to the people today."))
}

func TestTrainingIsReproducible(t *testing.T) {
	encode := func(opt tagger.Options) []byte {
		data, err := tagger.Learn(examples(), opt).Encode()
		require.NoError(t, err)
		return data
	}
	first := encode(options)
	require.True(t, bytes.Equal(first, encode(options)))
	other := options
	other.Keep = 100 // forgets everything
	require.Less(t, len(encode(other)), len(first))
}

func TestWeightsSurviveEncoding(t *testing.T) {
	m := tagger.Learn(examples(), options)
	data, err := m.Encode()
	require.NoError(t, err)
	decoded, fingerprint, err := tagger.Decode(data)
	require.NoError(t, err)
	quick, err := tagger.Fingerprint(data)
	require.NoError(t, err)
	require.Equal(t, fingerprint, quick)
	require.Len(t, fingerprint, 8)
	for _, text := range []string{"Bob Grunz went to Fnord today.", "Ada saw Fnord.", "In 1912 the Grunz of Fnord died.", "x"} {
		s := prose.Split(text)
		want, err := m.Tag(t.Context(), text, s)
		require.NoError(t, err)
		got, err := decoded.Tag(t.Context(), text, s)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	again, err := decoded.Encode()
	require.NoError(t, err)
	require.True(t, bytes.Equal(data, again))
}

// A name keeps one type through a text, and a surname is its person.
func TestOneTypePerName(t *testing.T) {
	m := tagger.Learn(examples(), options)
	for name, kind := range tag(t, m, "Bob Grunz went to Fnord today. The people of Grunz saw Fnord.") {
		if name == "Grunz" {
			require.Equal(t, "person", kind)
		}
	}
}

func unpack(t testing.TB, data []byte) []byte {
	zip, err := gzip.NewReader(bytes.NewReader(data))
	require.NoError(t, err)
	raw, err := io.ReadAll(zip)
	require.NoError(t, err)
	return raw
}

func pack(t testing.TB, raw []byte) []byte {
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	_, err := zip.Write(raw)
	require.NoError(t, err)
	require.NoError(t, zip.Close())
	return out.Bytes()
}

func TestBrokenWeightsAreRefused(t *testing.T) {
	data, err := tagger.Learn(examples(), options).Encode()
	require.NoError(t, err)
	raw := unpack(t, data)
	stale := bytes.Clone(raw)
	stale[9]++ // the digest of the word lists
	for name, broken := range map[string][]byte{
		"nothing": nil, "not gzip": []byte("hello"), "cut": data[:len(data)/2], "empty": pack(t, nil), "other magic": pack(t, append([]byte("x"), raw...)),
		"short": pack(t, raw[:len(raw)-1]), "long": pack(t, append(bytes.Clone(raw), 0)), "stale": pack(t, stale),
	} {
		_, _, err := tagger.Decode(broken)
		require.ErrorIs(t, err, tagger.ErrWeights, name)
	}
}

// FuzzDecode: unpacked data of any kind is decoded or refused, and what was
// decoded can tag.
func FuzzDecode(f *testing.F) {
	data, err := tagger.Learn(examples(), options).Encode()
	require.NoError(f, err)
	raw := unpack(f, data)
	f.Add(raw)
	f.Add(raw[:100])
	f.Add([]byte("weirtag1"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, _, err := tagger.Decode(pack(t, raw))
		if err != nil {
			require.ErrorIs(t, err, tagger.ErrWeights)
			return
		}
		tag(t, m, "Bob Grunz went to Fnord today.")
	})
}
