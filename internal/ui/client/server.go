package client

import (
	"context"
	"io"
	"net/http"
)

// Hello is how a server introduces itself.
type Hello struct {
	Version string `json:"version"`
	API     int    `json:"api"`
	PID     int    `json:"pid"`
	Home    string `json:"home"`
}

// A Check is one thing doctor looked at.
type Check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"`
}

// Imported is what an import took over.
type Imported struct {
	Tasks    int      `json:"tasks"`
	Projects int      `json:"projects"`
	Skipped  []string `json:"skipped"`
}

// Hello asks who is there.
func (c *Client) Hello(ctx context.Context) (Hello, error) {
	var out Hello
	err := c.get(ctx, "/hello", nil, &out)
	return out, err
}

// Pause holds everything.
func (c *Client) Pause(ctx context.Context) error {
	return c.do(ctx, call{method: http.MethodPost, path: "/pause"}, nil)
}

// Resume lets everything go on.
func (c *Client) Resume(ctx context.Context) error {
	return c.do(ctx, call{method: http.MethodPost, path: "/resume"}, nil)
}

// Doctor asks the server to check itself.
func (c *Client) Doctor(ctx context.Context) ([]Check, error) {
	var out struct {
		Checks []Check `json:"checks"`
	}
	err := c.get(ctx, "/doctor", nil, &out)
	return out.Checks, err
}

// Repair rebuilds the records from their journals and checks again.
func (c *Client) Repair(ctx context.Context) ([]Check, error) {
	var out struct {
		Checks []Check `json:"checks"`
	}
	err := c.put(ctx, http.MethodPost, "/repair", nil, &out)
	return out.Checks, err
}

// Export copies everything the server knows to w, as JSON lines.
func (c *Client) Export(ctx context.Context, w io.Writer) error {
	return c.copyTo(ctx, call{method: http.MethodGet, path: "/export"}, w)
}

// ImportPath takes over the data at an absolute path that the server can read.
func (c *Client) ImportPath(ctx context.Context, path string) (Imported, error) {
	var out Imported
	err := c.put(ctx, http.MethodPost, "/import", map[string]string{"path": path}, &out)
	return out, err
}

// Import takes over what Export wrote.
func (c *Client) Import(ctx context.Context, lines io.Reader) (Imported, error) {
	var out Imported
	err := c.do(ctx, call{method: http.MethodPost, path: "/import", body: lines, form: "application/jsonl"}, &out)
	return out, err
}

// Stop tells the server to end. One that is gone before its answer is here, or that
// was told already, is no error.
func (c *Client) Stop(ctx context.Context) error {
	err := c.do(ctx, call{method: http.MethodPost, path: "/stop"}, nil)
	if leaving(err) {
		return nil
	}
	return err
}
