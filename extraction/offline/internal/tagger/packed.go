package tagger

// packed is a row of a finished model with four labels to a word of 16 bits
// each, so that five additions sum nineteen labels. Weights between -128 and
// 127 are kept with packBias added: then no lane can borrow from its neighbour,
// nor overflow before 257 rows are added up, several times what a token has.
type packed [(numLabels + 3) / 4]uint64

const packBias = 128

func pack(r *row) packed {
	var out packed
	for l, w := range r {
		out[l/4] |= uint64(uint16(w+packBias)) << (16 * (l % 4))
	}
	return out
}

func (p *packed) add(other *packed) {
	for i := range p {
		p[i] += other[i]
	}
}

// unpack returns the sums of n packed rows.
func (p *packed) unpack(n int32) scores {
	var out scores
	for l := range out {
		out[l] = int32(uint16(p[l/4]>>(16*(l%4)))) - n*packBias
	}
	return out
}

// freeze packs the weights of a model that will not change any more.
func (m *Model) freeze() {
	m.packed = make([]packed, len(m.table.rows))
	for i := range m.table.rows {
		m.packed[i] = pack(&m.table.rows[i])
	}
}
