package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Told is the result of the last notification.
type Told struct {
	At      time.Time `json:"at"`
	OK      time.Time `json:"ok,omitzero"` // when one last succeeded
	Problem string    `json:"problem,omitempty"`
}

// ToldFile returns the file in which the server stores the results, by name of the channel.
func (c *Config) ToldFile() string { return filepath.Join(c.Home, "notify.json") }

// ReadTold reads that file. A missing file is not an error.
func ReadTold(path string) (map[string]Told, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]Told{}, nil
	}
	out := map[string]Told{}
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		return map[string]Told{}, fmt.Errorf("read how notifications went: %w", err)
	}
	return out, nil
}
