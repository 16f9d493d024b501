package reader

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/klippa-app/go-pdfium"
	pdfiumerrors "github.com/klippa-app/go-pdfium/errors"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/weirkeeper/weirkeeper/extraction"
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
	empty, damaged := 0, 0
	for i := range count.PageCount {
		if err := ctx.Err(); err != nil {
			return Text{}, err
		}
		page, err := instance.GetPageText(&requests.GetPageText{Page: requests.Page{ByIndex: &requests.PageByIndex{Document: document, Index: i}}})
		if err != nil {
			damaged++
			continue
		}
		text := pageText(page.Text)
		if strings.TrimSpace(text) == "" {
			empty++
			continue
		}
		if err := out.pdfPage(i+1, text); err != nil {
			return Text{}, err
		}
	}
	if out.Len() == 0 {
		if damaged > 0 {
			return Text{}, broken("none of its pages can be read", nil)
		}
		return Text{}, &Error{Kind: KindNoText, Reason: "there is no text in it, only pictures: scan it with OCR first, for example with ocrmypdf"}
	}
	text := Text{Text: out.String(), Marks: out.marks, Note: missing(empty, damaged, count.PageCount)}
	// A title is a help; that there is none is no error.
	if title, err := instance.FPDF_GetMetaText(&requests.FPDF_GetMetaText{Document: document, Tag: "Title"}); err == nil {
		text.Title = strings.Join(strings.Fields(clean(title.Value)), " ")
	}
	return text, nil
}

// missing says which pages the text does not have.
func missing(empty, damaged, pages int) string {
	var parts []string
	if empty > 0 {
		parts = append(parts, fmt.Sprintf("%d have no text", empty))
	}
	if damaged > 0 {
		parts = append(parts, fmt.Sprintf("%d are damaged", damaged))
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("of %d pages %s", pages, strings.Join(parts, " and "))
}

// pdfPage adds the text of a page. A sentence may go on from one to the next, so
// that a page begins no paragraph unless the one before has ended.
func (b *builder) pdfPage(number int, text string) error {
	gap := "\n"
	if last := strings.TrimSpace(b.tail()); last != "" && strings.ContainsAny(last[len(last)-1:], ".!?:") {
		gap = "\n\n"
	}
	if b.Len() == 0 {
		gap = ""
	}
	at := b.Len() + len(gap)
	if err := b.block(text, gap, false); err != nil {
		return err
	}
	b.marks = append(b.marks, extraction.Mark{Offset: at, Key: extraction.MarkPage, Value: strconv.Itoa(number)})
	return nil
}

// tail is the end of what has been written.
func (b *builder) tail() string {
	all := b.String()
	return all[max(0, len(all)-8):]
}

// pageText puts words together that a line end has cut: PDFium writes U+0002 for
// their hyphen.
func pageText(text string) string {
	text = clean(strings.NewReplacer("\x02\r\n", "", "\x02\n", "", "\uFFFE\r\n", "", "\uFFFE\n", "").Replace(text))
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strings.TrimRight(line, " \t\n"))
	}
	return strings.Join(lines, "\n")
}
