package web

import (
	"bytes"
	"compress/gzip"
	"io/fs"
	"net/http"
	"strings"
	"sync"
)

// minCompressed is the size from which a response is compressed, in bytes.
const minCompressed = 1400

var gzipWriters = sync.Pool{New: func() any { w, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed); return w }}

// compressText returns text compressed for a client that accepts it, or text itself.
//
// Pages contain a secret of the session and words of the request, and a compressed length can give a secret away to
// somebody who sees lengths. The page is served on this machine only, and its requests come from its own origin.
func compressText(w http.ResponseWriter, r *http.Request, text []byte) []byte {
	w.Header().Add("Vary", "Accept-Encoding")
	if len(text) < minCompressed || !acceptsGzip(r) {
		return text
	}
	w.Header().Set("Content-Encoding", "gzip")
	return gzipText(text)
}

func gzipText(text []byte) []byte {
	var out bytes.Buffer
	zw := gzipWriters.Get().(*gzip.Writer)
	defer gzipWriters.Put(zw)
	zw.Reset(&out)
	zw.Write(text) //nolint:errcheck // a buffer takes everything
	zw.Close()     //nolint:errcheck // likewise
	return out.Bytes()
}

// acceptsGzip reports whether a client accepts gzip.
func acceptsGzip(r *http.Request) bool {
	for part := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		coding, weight, _ := strings.Cut(strings.TrimSpace(part), ";")
		if strings.EqualFold(coding, "gzip") {
			return strings.ReplaceAll(weight, " ", "") != "q=0"
		}
	}
	return false
}

// compressFiles returns the compressed text of each file.
func compressFiles(files fs.FS) map[string][]byte {
	out := map[string][]byte{}
	names, _ := fs.Glob(files, "*")
	for _, name := range names {
		if text, err := fs.ReadFile(files, name); err == nil {
			out[name] = gzipText(text)
		}
	}
	return out
}
