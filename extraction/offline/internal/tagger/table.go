package tagger

import "slices"

// row holds one feature's weight for every label.
type row [numLabels]int16

// table finds the row of a feature: a hash table with linear probing over keys
// that are hashes already. Tagging is mostly looking up features, most of which
// are not there.
type table struct {
	slots []slot // a power of two, at least half of them free
	rows  []row
	keys  []uint32 // of the rows
}

// slot is one place of the table; number is the row's index plus one, 0 if free.
type slot struct{ key, number uint32 }

func newTable(rows int) *table {
	size := 16
	for size < 2*rows {
		size *= 2
	}
	return &table{slots: make([]slot, size), rows: make([]row, 0, rows), keys: make([]uint32, 0, rows)}
}

// find returns the number of the feature's row, -1 if it has none.
func (t *table) find(key uint32) int {
	mask := uint32(len(t.slots) - 1)
	for i := key & mask; ; i = (i + 1) & mask {
		switch s := t.slots[i]; {
		case s.number == 0:
			return -1
		case s.key == key:
			return int(s.number) - 1
		}
	}
}

// insert returns the number of the feature's row, a new one if it had none.
func (t *table) insert(key uint32) int {
	if n := t.find(key); n >= 0 {
		return n
	}
	if 2*(len(t.rows)+1) > len(t.slots) {
		grown := newTable(len(t.slots))
		for _, k := range t.keys {
			grown.place(k)
		}
		grown.rows = append(grown.rows[:0], t.rows...)
		*t = *grown
	}
	return t.place(key)
}

// place adds a key that is not in the table, with an empty row.
func (t *table) place(key uint32) int {
	mask := uint32(len(t.slots) - 1)
	i := key & mask
	for t.slots[i].number != 0 {
		i = (i + 1) & mask
	}
	t.rows, t.keys = append(t.rows, row{}), append(t.keys, key)
	t.slots[i] = slot{key: key, number: uint32(len(t.rows))}
	return len(t.rows) - 1
}

// sorted returns the keys in order.
func (t *table) sorted() []uint32 {
	out := slices.Clone(t.keys)
	slices.Sort(out)
	return out
}
