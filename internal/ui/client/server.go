package client

import (
	"context"
	"io"
	"net/http"

	"orange/internal/doctor"
	"orange/internal/wire"
)

// Hello identifies the server.
func (c *Client) Hello(ctx context.Context) (wire.Hello, error) {
	var out wire.Hello
	err := c.getJSON(ctx, wire.PathHello, nil, &out)
	return out, err
}

// PauseAll pauses all tasks.
func (c *Client) PauseAll(ctx context.Context) error {
	return c.callJSON(ctx, call{method: http.MethodPost, path: wire.PathPause}, nil)
}

// ResumeAll resumes all tasks.
func (c *Client) ResumeAll(ctx context.Context) error {
	return c.callJSON(ctx, call{method: http.MethodPost, path: wire.PathResume}, nil)
}

// RunChecks makes the server check itself.
func (c *Client) RunChecks(ctx context.Context) ([]doctor.Result, error) {
	var out wire.HealthReport
	err := c.getJSON(ctx, wire.PathDoctor, nil, &out)
	return out.Checks, err
}

// RepairRecords rebuilds the records from their journals and checks again.
func (c *Client) RepairRecords(ctx context.Context) ([]doctor.Result, error) {
	var out wire.HealthReport
	err := c.sendJSON(ctx, http.MethodPost, wire.PathRepair, nil, &out)
	return out.Checks, err
}

// ExportAll copies all data of the server to w, as JSON lines.
func (c *Client) ExportAll(ctx context.Context, w io.Writer) error {
	return c.copyTo(ctx, call{method: http.MethodGet, path: wire.PathExport}, w)
}

// ImportPath imports the data at an absolute path that the server can read.
func (c *Client) ImportPath(ctx context.Context, path string) (wire.Imported, error) {
	var out wire.Imported
	err := c.sendJSON(ctx, http.MethodPost, wire.PathImport, wire.ImportRequest{Path: path}, &out)
	return out, err
}

// ImportLines imports what ExportAll wrote.
func (c *Client) ImportLines(ctx context.Context, lines io.Reader) (wire.Imported, error) {
	var out wire.Imported
	err := c.callJSON(ctx, call{method: http.MethodPost, path: wire.PathImport, body: lines, form: wire.TypeJSONLines}, &out)
	return out, err
}

// StopServer stops the server. It is not an error if the server disappears before its response, or is stopping already.
func (c *Client) StopServer(ctx context.Context) error {
	err := c.callJSON(ctx, call{method: http.MethodPost, path: wire.PathStop}, nil)
	if isLeaving(err) {
		return nil
	}
	return err
}
