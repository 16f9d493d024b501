package reader

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/klippa-app/go-pdfium"
	pdfiumerrors "github.com/klippa-app/go-pdfium/errors"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

const (
	// pdfMemory bounds what one file may take, in pages of 64 KiB: 1 GiB.
	pdfMemory = 1 << 14
	// pdfAtATime is how many files are read at the same time.
	pdfAtATime = 2
	// maxPages bounds a file that says it has more pages than anybody reads.
	maxPages = 100_000
)

// pdfEngine is PDFium as WebAssembly: it sees the file's bytes and nothing else of this
// machine, and each file gets a fresh one. It is compiled when the first file is
// read, which takes seconds, and kept in the user's cache directory, from where it
// starts in a quarter of a second.
type pdfEngine struct {
	mu   sync.Mutex
	pool pdfium.Pool
	kept wazero.CompilationCache // nil if it could not be kept
}

// start returns the engine's pool, making it if there is none.
func (e *pdfEngine) start() (pdfium.Pool, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.pool != nil {
		return e.pool, nil
	}
	config := wazero.NewRuntimeConfig().
		WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesExceptionHandling).
		WithMemoryLimitPages(pdfMemory).
		WithCloseOnContextDone(true)
	if dir, err := os.UserCacheDir(); err == nil {
		// Without a place to keep it in, it is only slower.
		if kept, err := wazero.NewCompilationCacheWithDir(filepath.Join(dir, "weirkeeper", "pdf")); err == nil {
			e.kept, config = kept, config.WithCompilationCache(kept)
		}
	}
	pool, err := webassembly.Init(webassembly.Config{
		MaxTotal: pdfAtATime, RuntimeConfig: config, FSConfig: wazero.NewFSConfig(), Stdout: io.Discard, Stderr: io.Discard,
	})
	if err != nil {
		return nil, &Error{Kind: KindUnreadable, Reason: fmt.Sprintf("the reader of PDF files does not start: %v", err), Err: err}
	}
	e.pool = pool
	return pool, nil
}

func (e *pdfEngine) close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	var errs []error
	if e.pool != nil {
		errs = append(errs, e.pool.Close())
	}
	if e.kept != nil {
		errs = append(errs, e.kept.Close(context.Background()))
	}
	e.pool, e.kept = nil, nil
	return errors.Join(errs...)
}

// readPDF reads the text of a PDF file, page after page.
func (r *Reader) readPDF(ctx context.Context, content []byte) (Text, error) {
	if !isPDF(content) {
		return Text{}, mislabeled("a PDF", content)
	}
	pool, err := r.pdf.start()
	if err != nil {
		return Text{}, err
	}
	instance, err := pool.GetInstanceWithContext(ctx)
	if err != nil {
		return Text{}, err
	}
	// A file that takes too long is stopped from outside; what the call returns
	// then does not matter.
	var once sync.Once
	stop := context.AfterFunc(ctx, func() { once.Do(func() { _ = instance.Kill() }) })
	defer func() {
		stop()
		once.Do(func() { _ = instance.Close() })
	}()
	return readPages(ctx, instance, content)
}

func isPDF(content []byte) bool {
	return bytes.Contains(content[:min(pdfHead, len(content))], magicPDF)
}

func readPages(ctx context.Context, instance pdfium.Pdfium, content []byte) (Text, error) {
	opened, err := instance.OpenDocument(&requests.OpenDocument{File: &content})
	switch {
	case errors.Is(err, pdfiumerrors.ErrPassword), errors.Is(err, pdfiumerrors.ErrSecurity):
		return Text{}, &Error{Kind: KindEncrypted, Reason: "encrypted: remove the password first", Err: err}
	case err != nil:
		return Text{}, broken("the PDF is damaged or cut off", err)
	}
	document := opened.Document
	count, err := instance.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: document})
	switch {
	case err != nil:
		return Text{}, broken("its pages cannot be counted", err)
	case count.PageCount > maxPages:
		return Text{}, &Error{Kind: KindTooLarge, Reason: fmt.Sprintf("says it has %d pages", count.PageCount)}
	}
	var out builder
	var lost lostPages
	for i := range count.PageCount {
		if err := ctx.Err(); err != nil {
			return Text{}, err
		}
		text, err := pageText(instance, requests.Page{ByIndex: &requests.PageByIndex{Document: document, Index: i}})
		switch {
		case err != nil:
			lost.damaged++
		case strings.TrimSpace(text) == "":
			lost.empty++
		case undeciphered(text):
			lost.undeciphered++
		default:
			if err := out.pdfPage(i+1, text); err != nil {
				return Text{}, err
			}
		}
	}
	if out.Len() == 0 {
		return Text{}, lost.all()
	}
	text := Text{Text: out.String(), Marks: out.marks, Note: lost.note(count.PageCount)}
	// A title is a help; that there is none is no error.
	if title, err := instance.FPDF_GetMetaText(&requests.FPDF_GetMetaText{Document: document, Tag: "Title"}); err == nil {
		text.Title = strings.Join(strings.Fields(clean(title.Value)), " ")
	}
	return text, nil
}
