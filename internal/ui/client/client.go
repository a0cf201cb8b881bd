// Package client calls the server over its unix socket, with one method per route. It decides nothing and prints
// nothing.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"orange/internal/wire"
)

// maxErrorBody limits how much of an error response is kept, in bytes.
const maxErrorBody = 4 << 20

// A Client calls the server of one data folder. It is safe for concurrent use.
type Client struct {
	http        *http.Client
	folder      string                      // in which the caller works, "" if that does not matter
	token       string                      // of the attempt in which this process runs, "" outside any
	environment string                      // header with the variables for agents, "" for none
	server      string                      // version of the server that Connect reached
	reconnect   func(context.Context) error // finds another server if this one stops; nil: there is none
}

// New returns a client of the server that listens on socket. It does not dial.
func New(socket string) *Client { return newClient(func() string { return socket }) }

// FromOptions returns a client that resolves the server of o at every dial, whether one runs or not. It does not dial
// now, and starts none.
func FromOptions(o DialOptions) *Client {
	c := newClient(func() string { return FindSocket(o) })
	c.token, c.folder, c.environment = o.Token, o.Folder, o.environmentHeader()
	return c
}

// newClient returns a client that calls where at every dial.
func newClient(where func() string) *Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", where())
	}
	return &Client{http: &http.Client{
		Transport:     &http.Transport{DialContext: dial, DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// ServerVersion returns the version of the server that Connect reached.
func (c *Client) ServerVersion() string { return c.server }

// An Error is an error response of the server, with its message and its body.
type Error struct {
	Status  int // of HTTP
	Message string
	Body    []byte
}

func (e *Error) Error() string { return e.Message }

// call is one request to the server.
type call struct {
	method string
	path   string // below wire.Root, escaped
	query  url.Values
	body   io.Reader
	form   string // content type of the body
	header http.Header
}

// sendWithRetry returns the response to a call. The caller closes its body. If the server stops at this moment, it
// calls another one, provided that repeating the call is safe.
func (c *Client) sendWithRetry(ctx context.Context, q call) (*http.Response, error) {
	res, err := c.sendOnce(ctx, q)
	if err == nil || c.reconnect == nil || !q.canRepeat(err) {
		return res, err
	}
	if err := c.reconnect(ctx); err != nil {
		return nil, err
	}
	return c.sendOnce(ctx, q)
}

// canRepeat reports whether a failed call can be repeated: it was not received, or it only reads, and its body is still
// available.
func (q call) canRepeat(err error) bool {
	var no *Error
	notReceived := IsAbsent(err) || errors.As(err, &no) && no.Status == http.StatusServiceUnavailable
	if !notReceived && (q.method != http.MethodGet || !isLeaving(err)) {
		return false
	}
	if body, ok := q.body.(*bytes.Reader); ok {
		_, err := body.Seek(0, io.SeekStart)
		return err == nil
	}
	return q.body == nil
}

// sendOnce sends a call without looking for another server.
func (c *Client) sendOnce(ctx context.Context, q call) (*http.Response, error) {
	u := "http://orange" + wire.Root + q.path
	if len(q.query) > 0 {
		u += "?" + q.query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, q.method, u, q.body)
	if err != nil {
		return nil, fmt.Errorf("ask the server: %w", err)
	}
	for name, values := range q.header {
		req.Header[name] = values
	}
	req.Header.Set(wire.HeaderAPI, strconv.Itoa(wire.Version))
	if c.token != "" {
		req.Header.Set(wire.HeaderToken, c.token)
	}
	if c.folder != "" {
		req.Header.Set(wire.HeaderFolder, url.PathEscape(c.folder))
	}
	if c.environment != "" && q.method != http.MethodGet {
		req.Header.Set(wire.HeaderEnvironment, c.environment)
	}
	if q.form != "" {
		req.Header.Set("Content-Type", q.form)
	}
	if via := ViaHeader(ctx); via != "" {
		req.Header.Set(wire.HeaderVia, via)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("ask the server: %w", explainGone(unwrapURLError(err)))
	}
	if res.StatusCode < 200 || res.StatusCode > 299 {
		defer res.Body.Close()
		return nil, answerError(res)
	}
	return res, nil
}

// explainGone adds what to do to the error of a server that disappeared before it responded.
func explainGone(err error) error {
	if isLeaving(err) {
		return fmt.Errorf("it stopped before it responded (%w): check whether the request was done, and try again", err)
	}
	return err
}

// unwrapURLError removes the method and the placeholder address from an error of net/http.
func unwrapURLError(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}

func answerError(res *http.Response) error {
	body, _ := io.ReadAll(io.LimitReader(res.Body, maxErrorBody))
	var said wire.Failure
	e := &Error{Status: res.StatusCode, Body: body}
	if json.Unmarshal(body, &said) == nil && said.Error != "" {
		e.Message = said.Error
		return e
	}
	e.Message = fmt.Sprintf("the server answered %s without a reason: see orange log", res.Status)
	return e
}

// callJSON sends a call and decodes the JSON response into out, unless out is nil.
func (c *Client) callJSON(ctx context.Context, q call, out any) error {
	res, err := c.sendWithRetry(ctx, q)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if out == nil {
		return nil
	}
	if err := json.NewDecoder(res.Body).Decode(out); err != nil {
		return fmt.Errorf("read the server's answer: %w", err)
	}
	return nil
}

func (c *Client) getJSON(ctx context.Context, path string, query url.Values, out any) error {
	return c.callJSON(ctx, call{method: http.MethodGet, path: path, query: query}, out)
}

// sendJSON sends in as JSON.
func (c *Client) sendJSON(ctx context.Context, method, path string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("write the request: %w", err)
	}
	return c.callJSON(ctx, call{method: method, path: path, body: bytes.NewReader(body), form: "application/json"}, out)
}

// copyTo copies a response to w as it arrives.
func (c *Client) copyTo(ctx context.Context, q call, w io.Writer) error {
	res, err := c.sendWithRetry(ctx, q)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if _, err := io.Copy(w, res.Body); err != nil {
		return fmt.Errorf("the server interrupted its response (%w): see orange log", err)
	}
	return nil
}

// taskPath returns the path of a task, or of something of it. It returns an error for what cannot be a path.
func taskPath(name, pattern string) (string, error) {
	if name == "" || strings.Trim(name, ".") == "" {
		return "", &Error{Status: http.StatusNotFound, Message: fmt.Sprintf("task not found: %q is no id, branch or summary of a task: see orange task list", name)}
	}
	return wire.FillPath(pattern, name), nil
}
