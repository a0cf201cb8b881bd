package web

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
)

// serveStatic serves the embedded files. They are all in one folder; no other name is looked up.
func (s *Site) serveStatic(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/static/")
	text, err := fs.ReadFile(s.static, name)
	kind := mime.TypeByExtension(path.Ext(name))
	if err != nil || kind == "" || strings.Contains(name, "/") {
		s.serveNotFound(w, withoutCookie(r))
		return
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("Etag", s.etags[name])
	w.Header().Set("Vary", "Accept-Encoding")
	if r.Header.Get("If-None-Match") == s.etags[name] {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	if acceptsGzip(r) {
		w.Header().Set("Content-Encoding", "gzip")
		text = s.zipped[name]
	}
	w.Write(text) //nolint:errcheck // the client left
}

// themed makes the dark rules of a stylesheet follow the theme that a person chose. Stylesheets from other packages know
// only what the browser prefers.
func themed(css string) string {
	const dark = "@media (prefers-color-scheme: dark) {\n"
	before, rest, found := strings.Cut(css, dark)
	rules, after, closed := strings.Cut(rest, "\n}\n")
	if !found || !closed {
		return css
	}
	return before + dark + ":root:not([data-theme=light]) {\n" + rules + "\n}\n}\n:root[data-theme=dark] {\n" + rules + "\n}\n" + after
}

// etagsOf returns an ETag for each file. It is weak, because compressed files have the same one.
func etagsOf(files fs.FS) map[string]string {
	out := map[string]string{}
	names, _ := fs.Glob(files, "*")
	for _, name := range names {
		if text, err := fs.ReadFile(files, name); err == nil {
			sum := sha256.Sum256(text)
			out[name] = `W/"` + hex.EncodeToString(sum[:8]) + `"`
		}
	}
	return out
}
