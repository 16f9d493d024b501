// Package samplefiles makes small files of the formats that package reader knows,
// good and bad, for tests. Nothing of it is in a binary.
package samplefiles
