package origin_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/origin"
)

// rangeOf is where text[start:end] of a map stands.
func rangeOf(t *testing.T, m interface {
	Range(start, end int) (from, to int, ok bool)
}, start, end int) [2]int {
	t.Helper()
	from, to, ok := m.Range(start, end)
	require.True(t, ok)
	return [2]int{from, to}
}

// "Ada &amp; <b>Bob</b>" is read as "Ada & Bob".
func ada() *origin.Map {
	m := &origin.Map{}
	m.Verbatim(0, 0, 3)
	m.Unit(4, 1, 4, 5)
	m.Verbatim(6, 13, 3)
	return m
}

func TestRangesCoverWhatATextCameFrom(t *testing.T) {
	m := ada()
	require.Equal(t, [2]int{0, 16}, rangeOf(t, m, 0, 9))
	require.Equal(t, [2]int{0, 3}, rangeOf(t, m, 0, 3))
	require.Equal(t, [2]int{4, 9}, rangeOf(t, m, 4, 5))
	require.Equal(t, [2]int{4, 16}, rangeOf(t, m, 4, 9))
	require.Equal(t, [2]int{14, 15}, rangeOf(t, m, 7, 8))
	require.Equal(t, [2]int{0, 16}, rangeOf(t, m, 0, 90), "no further than what came last")

	for _, bad := range [][2]int{{-1, 2}, {3, 3}, {5, 4}} {
		_, _, ok := m.Range(bad[0], bad[1])
		require.False(t, ok, bad)
	}
	_, _, ok := (&origin.Map{}).Range(0, 1)
	require.False(t, ok)
}

func TestUnitsAreNotDivided(t *testing.T) {
	m := &origin.Map{}
	for i := range 4 { // of 2 bytes that were 6
		m.Unit(2*i, 2, 6*i, 6)
	}
	require.Equal(t, [2]int{6, 18}, rangeOf(t, m, 3, 5))
	require.Equal(t, [2]int{18, 24}, rangeOf(t, m, 7, 8))

	part := &origin.Map{}
	part.Copy(10, m, 3, 6) // the half of one, and a whole one
	require.Equal(t, [2]int{6, 18}, rangeOf(t, part, 10, 13))
	require.Equal(t, [2]int{12, 18}, rangeOf(t, part, 11, 13))
}

func TestCopiedPieces(t *testing.T) {
	m, all := ada(), &origin.Map{}
	all.Copy(100, m, 0, 3)
	all.Copy(104, m, 4, 5)
	all.Copy(106, m, 6, 9)
	for _, at := range [][2]int{{0, 9}, {1, 5}, {4, 7}, {6, 8}} {
		require.Equal(t, rangeOf(t, m, at[0], at[1]), rangeOf(t, all, 100+at[0], 100+at[1]), at)
	}
}

// A page in another character set: two bytes for each character, after a mark of two.
func TestThroughTwoSteps(t *testing.T) {
	characters := &origin.Map{}
	for i := range len("Ada &amp; <b>Bob</b>") {
		characters.Unit(i, 1, 2+2*i, 2)
	}
	through := origin.Through{First: ada(), Second: characters}
	require.Equal(t, [2]int{10, 34}, rangeOf(t, through, 4, 9))
	_, _, ok := origin.Through{First: &origin.Map{}, Second: characters}.Range(0, 1)
	require.False(t, ok)
	_, _, ok = origin.Through{First: ada(), Second: &origin.Map{}}.Range(0, 1)
	require.False(t, ok)
}

// What was noted one way or piece by piece is the same map.
func FuzzMap(f *testing.F) {
	f.Add([]byte{1, 3, 0, 7, 2, 2}, 1, 4)
	f.Add([]byte(strings.Repeat("\x11\x52", 9)), 3, 9)
	f.Fuzz(func(t *testing.T, steps []byte, start, end int) {
		m := &origin.Map{}
		text, source := 0, 0
		for _, step := range steps {
			unit, width, gap := int(step&3), int(step>>2&7), int(step>>5)
			if step&1 == 0 {
				m.Verbatim(text, source, unit)
				width = unit
			} else {
				m.Unit(text, unit, source, width)
			}
			text, source = text+unit+gap/2, source+width+gap
		}
		from, to, ok := m.Range(start, end)
		if !ok {
			return
		}
		if from < 0 || from > to || to > source {
			t.Fatalf("%d:%d of %d", from, to, source)
		}
		// A part is within the whole, and one after another do not go back.
		for cut := start + 1; cut < min(end, start+50); cut++ {
			f1, t1, _ := m.Range(start, cut)
			f2, t2, _ := m.Range(cut, end)
			if f1 != from || t2 != to || t1 > to || f2 < from || f2 > t2 {
				t.Fatalf("%d:%d is %d:%d, but cut at %d it is %d:%d and %d:%d", start, end, from, to, cut, f1, t1, f2, t2)
			}
		}
	})
}
