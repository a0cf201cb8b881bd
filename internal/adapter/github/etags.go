package github

import (
	"bytes"
	"container/list"
	"io"
	"maps"
	"net/http"
	"sync"
)

// Limits of the cache, in number and in bytes.
const (
	maxKept      = 2000
	maxKeptBytes = 32 << 20
	maxKeptOne   = 2 << 20
)

// etags caches the responses to GET requests that came with an ETag, and requests them again
// conditionally: GitHub does not count a request whose response is that nothing changed.
type etags struct {
	next http.RoundTripper

	mu    sync.Mutex
	byKey map[string]*list.Element // of *kept
	order list.List                // most recently used first
	bytes int
}

type cachedAnswer struct {
	key    string
	tag    string
	header http.Header
	body   []byte
}

func (e *etags) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method != http.MethodGet || req.Header.Get("If-None-Match") != "" || req.Header.Get("Range") != "" {
		return e.next.RoundTrip(req)
	}
	key := req.URL.String() + "\n" + req.Header.Get("Accept")
	have := e.findCached(key)
	if have != nil {
		req = req.Clone(req.Context())
		req.Header.Set("If-None-Match", have.tag)
	}
	resp, err := e.next.RoundTrip(req)
	switch {
	case err != nil:
		return nil, err
	case resp.StatusCode == http.StatusNotModified && have != nil:
		return have.replayAnswer(resp), nil
	case resp.StatusCode == http.StatusOK && resp.Header.Get("ETag") != "":
		return resp, e.cacheAnswer(key, resp)
	}
	return resp, nil
}

// replayAnswer returns the cached response with the new headers.
func (k *cachedAnswer) replayAnswer(now *http.Response) *http.Response {
	_, _ = io.Copy(io.Discard, io.LimitReader(now.Body, 1<<16)) // so that the connection can be used again
	now.Body.Close()
	header := k.header.Clone()
	fresh := now.Header.Clone()
	fresh.Del("Content-Length")
	maps.Copy(header, fresh)
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK,
		Proto: now.Proto, ProtoMajor: now.ProtoMajor, ProtoMinor: now.ProtoMinor,
		Header: header, Body: io.NopCloser(bytes.NewReader(k.body)), ContentLength: int64(len(k.body)),
		Request: now.Request, TLS: now.TLS,
	}
}

// cacheAnswer reads a response, unless it is too long, and makes its body readable again.
func (e *etags) cacheAnswer(key string, resp *http.Response) error {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxKeptOne+1))
	if err != nil {
		resp.Body.Close()
		return err
	}
	if len(body) > maxKeptOne {
		resp.Body = &rest{Reader: io.MultiReader(bytes.NewReader(body), resp.Body), Closer: resp.Body}
		return nil
	}
	resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader(body))
	e.storeCached(&cachedAnswer{key: key, tag: resp.Header.Get("ETag"), header: resp.Header.Clone(), body: body})
	return nil
}

type rest struct {
	io.Reader
	io.Closer
}

func (e *etags) findCached(key string) *cachedAnswer {
	e.mu.Lock()
	defer e.mu.Unlock()
	at, ok := e.byKey[key]
	if !ok {
		return nil
	}
	e.order.MoveToFront(at)
	return at.Value.(*cachedAnswer)
}

func (e *etags) storeCached(k *cachedAnswer) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.byKey == nil {
		e.byKey = map[string]*list.Element{}
	}
	if old, ok := e.byKey[k.key]; ok {
		e.dropCached(old)
	}
	e.byKey[k.key] = e.order.PushFront(k)
	e.bytes += len(k.body)
	for e.order.Len() > maxKept || e.bytes > maxKeptBytes {
		e.dropCached(e.order.Back())
	}
}

func (e *etags) dropCached(at *list.Element) {
	k := e.order.Remove(at).(*cachedAnswer)
	delete(e.byKey, k.key)
	e.bytes -= len(k.body)
}
