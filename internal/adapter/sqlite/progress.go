package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Progress is how far a store has come: the version of its schema, and the last row of its journal.
type Progress struct {
	Schema int
	Row    int64
}

// ReadProgress reads the progress of a store without opening it as one, so that it is not upgraded.
// A store that does not exist has none.
func ReadProgress(path string) (Progress, error) {
	var out Progress
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	db, err := connectPool(path, 1, "query_only(1)")
	if err != nil {
		return out, err
	}
	defer db.Close() //nolint:errcheck // it was only read
	ctx := context.Background()
	c, err := db.Conn(ctx)
	if err == nil {
		defer c.Close() //nolint:errcheck // it was only read
		out.Schema, err = schemaVersion(ctx, c)
	}
	if err == nil && out.Schema > 0 {
		err = c.QueryRowContext(ctx, "SELECT coalesce(max(row), 0) FROM journal").Scan(&out.Row)
	}
	if err != nil {
		return out, fmt.Errorf("read the store %s: %w", path, err)
	}
	return out, nil
}
