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

// Told is how telling somebody went the last time.
type Told struct {
	At      time.Time `json:"at"`
	OK      time.Time `json:"ok,omitzero"` // when it last went well
	Problem string    `json:"problem,omitempty"`
}

// ToldFile returns where the server keeps how it went, by the name of the way.
func (c *Config) ToldFile() string { return filepath.Join(c.Home, "notify.json") }

// ReadTold reads that file. None is no error.
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
