package mcp

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// draining is a transport whose input ends only when every request has its answer:
// whoever pipes requests in and closes the pipe gets them all.
type draining struct {
	sdk.Transport
	out *output
}

// speak is the transport over in and out, each message on a line.
func speak(in io.ReadCloser, out io.WriteCloser) draining {
	to := &output{WriteCloser: out}
	// The lines are bounded already.
	return draining{&sdk.IOTransport{Reader: newLines(in, to, maxInput), Writer: to, MaxLineLength: -1}, to}
}

// Connect implements sdk.Transport.
func (d draining) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := d.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &drain{Connection: c, out: d.out, open: map[jsonrpc.ID]bool{}}, nil
}

// drain knows which requests have no answer yet.
type drain struct {
	sdk.Connection
	out *output

	mu    sync.Mutex
	open  map[jsonrpc.ID]bool
	empty chan struct{} // closes when nothing is open; nil: nobody waits
}

// Read implements sdk.Connection. What the library does not take, an empty list of
// messages for example, is refused and does not end it.
func (d *drain) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		m, err := d.Connection.Read(ctx)
		switch {
		case err == nil:
			d.note(m)
			return m, nil
		case ended(ctx, err):
			select {
			case <-d.answered():
			case <-ctx.Done():
			}
			return nil, err
		}
		wrong := &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: line(err.Error(), maxLine)}
		if err := d.out.refuse(nil, wrong); err != nil {
			return nil, err
		}
	}
}

// ended says whether nothing can be read after an error.
func ended(ctx context.Context, err error) bool {
	var input *inputError
	return ctx.Err() != nil || errors.Is(err, io.EOF) || errors.As(err, &input)
}

// note remembers a request until it is answered.
func (d *drain) note(m jsonrpc.Message) {
	if q, ok := m.(*jsonrpc.Request); ok && q.ID.IsValid() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.open[q.ID] = true
	}
}

// answered closes when every request has its answer.
func (d *drain) answered() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.empty = make(chan struct{})
	if len(d.open) == 0 {
		close(d.empty)
	}
	return d.empty
}

// Write implements sdk.Connection.
func (d *drain) Write(ctx context.Context, m jsonrpc.Message) error {
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
