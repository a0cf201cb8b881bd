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
type draining struct{ sdk.Transport }

// Connect implements sdk.Transport.
func (d draining) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := d.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &drain{Connection: c, open: map[jsonrpc.ID]bool{}}, nil
}

// drain knows which requests have no answer yet.
type drain struct {
	sdk.Connection

	mu    sync.Mutex
	open  map[jsonrpc.ID]bool
	empty chan struct{} // closes when nothing is open; nil: nobody waits
}

// Read implements sdk.Connection.
func (d *drain) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := d.Connection.Read(ctx)
	if errors.Is(err, io.EOF) {
		select {
		case <-d.answered():
		case <-ctx.Done():
		}
		return m, err
	}
	if q, ok := m.(*jsonrpc.Request); ok && err == nil && q.ID.IsValid() {
		d.mu.Lock()
		d.open[q.ID] = true
		d.mu.Unlock()
	}
	return m, err
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
