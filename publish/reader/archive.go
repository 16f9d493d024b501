package reader

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"io"
	"io/fs"

	"golang.org/x/net/html/charset"
)

const (
	// maxDirectory bounds the list of files in an archive, in bytes; an honest
	// one has some hundred entries of a hundred bytes.
	maxDirectory = 16 << 20
	// flagEncrypted is set for files that need a password.
	flagEncrypted = 1
)

// archive is a zip file of which only so much is unpacked.
type archive struct {
	ctx   context.Context
	files map[string]*zip.File
	left  int64 // bytes that may still be unpacked
}

// openArchive opens a zip file. want says what it should be ("a Word document").
func (r *Reader) openArchive(ctx context.Context, want string, content []byte) (*archive, error) {
	if bytes.HasPrefix(content, magicOLE) {
		// "EncryptedPackage" in UTF-16 is how Office wraps a document with a password.
		if bytes.Contains(content, []byte("E\x00n\x00c\x00r\x00y\x00p\x00t\x00e\x00d\x00P\x00a\x00c\x00k\x00a\x00g\x00e\x00")) {
			return nil, &Error{Kind: KindEncrypted, Reason: "encrypted: remove the password first"}
		}
	}
	if !bytes.HasPrefix(content, magicZip) {
		return nil, mislabeled(want, content)
	}
	if directoryBytes(content) > maxDirectory {
		return nil, &Error{Kind: KindTooLarge, Reason: "has too many files in it"}
	}
	in, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return nil, broken("the archive is damaged or cut off", err)
	}
	a := &archive{ctx: ctx, files: map[string]*zip.File{}, left: r.unpacked}
	for _, f := range in.File {
		if _, twice := a.files[f.Name]; !twice {
			a.files[f.Name] = f
		}
	}
	return a, nil
}

// directoryBytes is the size of a zip file's list of files as the end of the
// archive says it, or 0 if it does not.
func directoryBytes(content []byte) int64 {
	tail := content[max(0, len(content)-(1<<16)-22):]
	i := bytes.LastIndex(tail, []byte("PK\x05\x06"))
	if i < 0 || len(tail)-i < 16 {
		return 0
	}
	return int64(binary.LittleEndian.Uint32(tail[i+12:]))
}

// open returns the content of a file as it is unpacked. A file that is not there
// is fs.ErrNotExist.
func (a *archive) open(name string) (io.ReadCloser, error) {
	f, ok := a.files[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	if f.Flags&flagEncrypted != 0 {
		return nil, &Error{Kind: KindEncrypted, Reason: "encrypted: remove the password first"}
	}
	in, err := f.Open()
	if err != nil {
		return nil, broken(name+" cannot be unpacked", err)
	}
	return &unpacking{in, a}, nil
}

// read returns all of a file.
func (a *archive) read(name string) ([]byte, error) {
	in, err := a.open(name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	content, err := io.ReadAll(in)
	if err != nil {
		return nil, unpackError(name, err)
	}
	return content, nil
}

// unpacking stops at the bound of the archive and at the end of the time.
type unpacking struct {
	io.ReadCloser
	archive *archive
}

func (u *unpacking) Read(p []byte) (int, error) {
	if err := u.archive.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := u.ReadCloser.Read(p)
	if u.archive.left -= int64(n); u.archive.left < 0 {
		return 0, &Error{Kind: KindTooLarge, Reason: "unpacks to more than it may: is it a zip bomb?"}
	}
	return n, err
}

// unpackError is err if it says enough.
func unpackError(name string, err error) error {
	if _, ok := errors.AsType[*Error](err); ok || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return err
	}
	return broken(name+" is damaged or cut off", err)
}

// decoder reads XML of an archive: entities of its own are not expanded, and
// any character set that HTML may have is understood.
func decoder(in io.Reader) *xml.Decoder {
	d := xml.NewDecoder(in)
	d.Strict = false
	d.Entity = xml.HTMLEntity
	d.CharsetReader = charset.NewReaderLabel
	return d
}
