// Package reader turns the content of files into text: HTML, Word (.docx), EPUB
// and PDF. It says why a file cannot be read, in an [*Error] of a kind that tells
// what to do, and never fails in another way: files are hostile until they are
// read, so what is unpacked is bounded, and a library that panics is a file that
// is broken.
//
// Where in the file the text stands is known of HTML, to the byte. In the others, whose
// bytes are packed, marks say it: pages of a PDF, sections, files of an EPUB.
package reader
