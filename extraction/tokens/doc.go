// Package tokens counts tokens as OpenAI's models since GPT-4o do (the
// vocabulary o200k_base, which is part of the binary: nothing is fetched). Other
// models have other vocabularies; their counts for the same text differ, mostly
// by less than a fifth for English and by more for other languages.
package tokens
