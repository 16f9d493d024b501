// Package reader turns the content of files into text: HTML, Word (.docx), EPUB
// and PDF. It says why a file cannot be read, in an [*Error] of a kind that tells
// what to do, and never fails in another way: files are hostile until they are
// read, so what is unpacked is bounded, and a library that panics is a file that
// is broken.
//
// Offsets of what is extracted count in the extracted text. Marks say where in
// the source it stands: pages of a PDF, sections of the others, files of an EPUB.
package reader
