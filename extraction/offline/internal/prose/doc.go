// Package prose finds the running English text inside a chunk that may be
// plain text or Markdown, and cuts it into sentences and tokens.
//
// Every token is a byte range of the text it was given: nothing is copied,
// normalised or moved, so text[tok.Start:tok.End] is always what stood there.
// Code, URLs, markup and identifiers come out as one opaque token each; they
// keep their place in a sentence but have nothing to say about it.
package prose
