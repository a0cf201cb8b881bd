package client

import (
	"context"
	"io"
	"net/http"

	"orange/internal/doctor"
	"orange/internal/wire"
)

// Hello asks who is there.
func (c *Client) Hello(ctx context.Context) (wire.Hello, error) {
	var out wire.Hello
	err := c.get(ctx, wire.PathHello, nil, &out)
	return out, err
}

// Pause holds everything.
func (c *Client) Pause(ctx context.Context) error {
	return c.do(ctx, call{method: http.MethodPost, path: wire.PathPause}, nil)
}

// Resume lets everything go on.
func (c *Client) Resume(ctx context.Context) error {
	return c.do(ctx, call{method: http.MethodPost, path: wire.PathResume}, nil)
}

// Doctor asks the server to check itself.
func (c *Client) Doctor(ctx context.Context) ([]doctor.Result, error) {
	var out wire.Checkup
	err := c.get(ctx, wire.PathDoctor, nil, &out)
	return out.Checks, err
}

// Repair rebuilds the records from their journals and checks again.
func (c *Client) Repair(ctx context.Context) ([]doctor.Result, error) {
	var out wire.Checkup
	err := c.put(ctx, http.MethodPost, wire.PathRepair, nil, &out)
	return out.Checks, err
}

// Export copies everything the server knows to w, as JSON lines.
func (c *Client) Export(ctx context.Context, w io.Writer) error {
	return c.copyTo(ctx, call{method: http.MethodGet, path: wire.PathExport}, w)
}

// ImportPath takes over the data at an absolute path that the server can read.
func (c *Client) ImportPath(ctx context.Context, path string) (wire.Imported, error) {
	var out wire.Imported
	err := c.put(ctx, http.MethodPost, wire.PathImport, wire.ImportWish{Path: path}, &out)
	return out, err
}

// Import takes over what Export wrote.
func (c *Client) Import(ctx context.Context, lines io.Reader) (wire.Imported, error) {
	var out wire.Imported
	err := c.do(ctx, call{method: http.MethodPost, path: wire.PathImport, body: lines, form: wire.TypeJSONLines}, &out)
	return out, err
}

// Stop tells the server to end. One that is gone before its answer is here, or that
// was told already, is no error.
func (c *Client) Stop(ctx context.Context) error {
	err := c.do(ctx, call{method: http.MethodPost, path: wire.PathStop}, nil)
	if leaving(err) {
		return nil
	}
	return err
}
