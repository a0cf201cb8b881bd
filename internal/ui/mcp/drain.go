package mcp

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// drainingTransport is a transport that reports the end of its input only after every request has been
// answered, so that a program that pipes requests in and closes the pipe gets all its answers.
type drainingTransport struct {
	sdk.Transport
	out *output
}

// newTransport returns a transport over in and out, with one message per line.
func newTransport(in io.ReadCloser, out io.WriteCloser) drainingTransport {
	to := &output{WriteCloser: out}
	// lineReader already limits the length of lines.
	return drainingTransport{&sdk.IOTransport{Reader: newLineReader(in, to, maxInput), Writer: to, MaxLineLength: -1}, to}
}

// Connect implements sdk.Transport.
func (d drainingTransport) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := d.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &drainingConn{Connection: c, out: d.out, open: map[jsonrpc.ID]bool{}}, nil
}

// drainingConn tracks the requests that are not answered yet.
type drainingConn struct {
	sdk.Connection
	out *output

	mu    sync.Mutex
	open  map[jsonrpc.ID]bool
	empty chan struct{} // closed when open is empty; nil if nothing waits for that
}

// Read implements sdk.Connection. It answers a message that the library does not accept, such as an
// empty batch, with an error and reads on.
func (d *drainingConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		m, err := d.Connection.Read(ctx)
		switch {
		case err == nil:
			d.noteRequest(m)
			return m, nil
		case isFinalError(ctx, err):
			select {
			case <-d.allAnswered():
			case <-ctx.Done():
			}
			return nil, err
		}
		wrong := &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: cutLine(err.Error(), maxLine)}
		if err := d.out.writeError(nil, wrong); err != nil {
			return nil, err
		}
	}
}

// isFinalError reports whether nothing can be read after an error.
func isFinalError(ctx context.Context, err error) bool {
	var input *inputError
	return ctx.Err() != nil || errors.Is(err, io.EOF) || errors.As(err, &input)
}

// noteRequest records a request until it is answered. One that listens is answered only when the client ends it.
func (d *drainingConn) noteRequest(m jsonrpc.Message) {
	if q, ok := m.(*jsonrpc.Request); ok && q.ID.IsValid() && q.Method != methodListen {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.open[q.ID] = true
	}
}

// allAnswered returns a channel that is closed when every request has been answered.
func (d *drainingConn) allAnswered() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.empty = make(chan struct{})
	if len(d.open) == 0 {
		close(d.empty)
	}
	return d.empty
}

// Write implements sdk.Connection.
func (d *drainingConn) Write(ctx context.Context, m jsonrpc.Message) error {
	err := d.Connection.Write(ctx, m)
	r, ok := m.(*jsonrpc.Response)
	if !ok {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	was := len(d.open)
	delete(d.open, r.ID)
	if was > 0 && len(d.open) == 0 && d.empty != nil {
		close(d.empty)
	}
	return err
}
