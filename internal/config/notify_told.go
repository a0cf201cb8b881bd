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

// NotifyResult is the result of the last notification.
type NotifyResult struct {
	At      time.Time `json:"at"`
	OK      time.Time `json:"ok,omitzero"` // when one last succeeded
	Problem string    `json:"problem,omitempty"`
}

// NotifyResultsFile returns the file in which the server stores the results, by name of the channel.
func (c *Config) NotifyResultsFile() string { return filepath.Join(c.Home, "notify.json") }

// ReadNotifyResults reads that file. A missing file is not an error.
func ReadNotifyResults(path string) (map[string]NotifyResult, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]NotifyResult{}, nil
	}
	out := map[string]NotifyResult{}
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		return map[string]NotifyResult{}, fmt.Errorf("read how notifications went: %w", err)
	}
	return out, nil
}
