// Package gold reads texts whose entities and relations are known, for training
// the offline provider and for scoring any provider.
//
// [Read] knows three formats and tells them apart by the file's first bytes:
//
//   - gold JSONL, one [Document] a line: the format to write for own data,
//   - Re-DocRED / DocRED, a JSON array of tokenised documents,
//   - CoNLL columns, the token first and a BIO label last, blank lines between
//     sentences: CrossNER, WNUT and most others.
//
// The last two are tokenised; their text is put together again with the spacing
// of ordinary English before anything is scored.
package gold
