package statuspage

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"
)

//go:embed page
var pageFiles embed.FS

// contentTypes are those of the page's files. The system's own table is not asked:
// it may say that a script is something else.
func contentType(name string) string {
	switch path.Ext(name) {
	case ".html":
		return "text/html; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	}
	return mime.FormatMediaType("application/octet-stream", nil)
}

// files serves the page and what it loads. A browser keeps them and asks each time
// whether they are still the same.
func (s *site) files(mux *http.ServeMux) {
	_ = fs.WalkDir(pageFiles, "page", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := pageFiles.ReadFile(name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(text)
		etag, pattern := `"`+hex.EncodeToString(sum[:8])+`"`, "GET /status/"+path.Base(name)
		if path.Base(name) == "index.html" {
			pattern = "GET /{$}"
		}
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("ETag", etag)
			w.Header().Set("Cache-Control", "no-cache")
			if r.Header.Get("If-None-Match") == etag {
				w.WriteHeader(http.StatusNotModified)
				return
			}
			w.Header().Set("Content-Type", contentType(name))
			_, _ = w.Write(text)
		})
		return nil
	})
}
