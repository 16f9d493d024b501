package tokens_test

import (
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"github.com/tiktoken-go/tokenizer/codec"
	"pgregory.net/rapid"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/extraction/tokens"
)

// Counts that OpenAI gives as examples of o200k_base.
func TestFitCountsLikeTheModel(t *testing.T) {
	counter := tokens.NewCounter()
	for text, n := range map[string]int{
		"hello world":                  2,
		"tiktoken is great!":           6,
		"antidisestablishmentarianism": 6,
		"2 + 2 = 4":                    7,
		"お誕生日おめでとう":                    8,
	} {
		require.Equal(t, len(text), counter.Fit(text, n), text)
		if n > 1 {
			require.Less(t, counter.Fit(text, n-1), len(text), text)
		}
	}
}

func TestFitEndsBetweenRunes(t *testing.T) {
	counter := tokens.NewCounter()
	for _, text := range []string{strings.Repeat("👩‍👩‍👧‍👦", 50), strings.Repeat("ꯍꯥꯏ", 50), strings.Repeat("x", 5000), strings.Repeat(" ", 5000) + "x"} {
		for budget := 1; budget < 40; budget++ {
			n := counter.Fit(text, budget)
			require.Positive(t, n)
			require.True(t, n == len(text) || utf8.RuneStart(text[n]))
		}
	}
}

// A chunk never has more tokens than its budget, for any text, and the same
// settings give the same chunks.
func TestSplitKeepsTheBudget(t *testing.T) {
	counter, exact := tokens.NewCounter(), codec.NewO200kBase()
	piece := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
		"Ada met Charles. ", "\n\n", "漢字。", "👩‍👩‍👧‍👦", "\u0e40\u0e2d\u0e14\u0e32", "xxxxxxxxxxxxxxxxxxxx", "                     ", "| a | b |\n|---|---|\n", "```\ncode\n\n```\n", "1234567890",
	}))
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(piece, 1, 60).Draw(t, "pieces"), "")
		if extraction.CheckText(text) != nil {
			t.Skip()
		}
		budget := rapid.IntRange(extraction.MinTokenBudget, 60).Draw(t, "budget")
		size := rapid.SampledFrom([]int{30, 100, 1 << 30}).Draw(t, "size")
		overlap := rapid.IntRange(0, 29).Draw(t, "overlap")
		s, err := extraction.NewSplitter(size, overlap, extraction.WithTokenBudget(budget, counter))
		require.NoError(t, err)
		chunks, err := s.Split(extraction.Document{Text: text})
		require.NoError(t, err)
		end := 0
		for _, c := range chunks {
			n, err := exact.Count(c.Text)
			require.NoError(t, err)
			require.LessOrEqual(t, n, budget, "%q", c.Text)
			require.LessOrEqual(t, utf8.RuneCountInString(c.Text), size)
			require.Equal(t, text[c.ByteStart:c.ByteEnd], c.Text)
			require.Greater(t, c.ByteEnd, end)
			if c.ByteStart > end {
				require.Error(t, extraction.CheckText(text[end:c.ByteStart]), "text between chunks")
			}
			end = c.ByteEnd
		}
		again, err := s.Split(extraction.Document{Text: text})
		require.NoError(t, err)
		require.Equal(t, chunks, again)
	})
}

func TestBudgetIsRefusedByName(t *testing.T) {
	for budget, counter := range map[int]extraction.TokenCounter{extraction.MinTokenBudget - 1: tokens.NewCounter(), 100: nil} {
		_, err := extraction.NewSplitter(100, 10, extraction.WithTokenBudget(budget, counter))
		var wrong *extraction.ArgumentError
		require.ErrorAs(t, err, &wrong)
		require.Contains(t, wrong.Argument, "token")
	}
}

func TestCounterIsSharedByGoroutines(t *testing.T) {
	counter := tokens.NewCounter()
	text := strings.Repeat("Ada Lovelace met Charles Babbage. ", 50)
	want := counter.Fit(text, 100)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 10 {
				if got := counter.Fit(text, 100); got != want {
					t.Errorf("got %d, want %d", got, want)
				}
			}
		})
	}
	group.Wait()
}

func FuzzFit(f *testing.F) {
	counter, exact := tokens.NewCounter(), codec.NewO200kBase()
	f.Add("Ada met Charles.", 3)
	f.Add("Ada's 'tis don't  a b\n c d. e'S x'LL y", 7)
	f.Add("👩‍👩‍👧‍👦漢字   \n\n", 16)
	f.Fuzz(func(t *testing.T, text string, budget int) {
		if budget < 4 || budget > 1000 || len(text) > 10_000 || text == "" || !utf8.ValidString(text) {
			t.Skip()
		}
		n := counter.Fit(text, budget)
		if n < 1 || n > len(text) || !utf8.ValidString(text[:n]) {
			t.Fatalf("Fit = %d of %d", n, len(text))
		}
		count, err := exact.Count(text)
		if err != nil || (count <= budget) != (n == len(text)) {
			t.Fatalf("%d tokens, budget %d, but Fit = %d of %d (%v)", count, budget, n, len(text), err)
		}
	})
}

func BenchmarkSplit(b *testing.B) {
	s, err := extraction.NewSplitter(1<<30, 200, extraction.WithTokenBudget(800, tokens.NewCounter()))
	if err != nil {
		b.Fatal(err)
	}
	for name, sample := range map[string]string{
		"prose": "Ada Lovelace met Charles Babbage in London in 1833, and wrote the first program. She was 17 years old. ",
		"cjk":   "私は東京から来ました。彼女は京都で生まれ、大阪で働いています。",
	} {
		text := strings.Repeat(sample, 1<<18/len(sample))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, err := s.Split(extraction.Document{Text: text}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
