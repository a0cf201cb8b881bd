package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"
)

// readFile reads the keys of config.json. A missing file is not an error.
func (c *Config) readFile(path string) error {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the configuration: %w", err)
	}
	r := reader{text: text, path: path, dec: json.NewDecoder(bytes.NewReader(text))}
	return r.readObject(c)
}

// reader reads one JSON object key by key, so that errors have a position.
type reader struct {
	text []byte
	path string
	dec  *json.Decoder
}

func (r *reader) readObject(c *Config) error {
	if t, err := r.dec.Token(); err != nil || t != json.Delim('{') {
		return r.errorAt(0, "the file is not a JSON object: write {} or remove it")
	}
	var seen []string
	for r.dec.More() {
		t, err := r.dec.Token()
		if err != nil {
			return r.syntaxError(err)
		}
		key, _ := t.(string)
		at := r.dec.InputOffset() - int64(len(key)) - 2
		if slices.Contains(seen, key) {
			return r.errorAt(at, fmt.Sprintf("key %q is there twice", key))
		}
		seen = append(seen, key)
		if err := r.readValue(c, key, at); err != nil {
			return err
		}
	}
	if _, err := r.dec.Token(); err != nil {
		return r.syntaxError(err)
	}
	if _, err := r.dec.Token(); !errors.Is(err, io.EOF) {
		return r.errorAt(r.dec.InputOffset(), "there is something after the object")
	}
	return nil
}

// readValue reads the value of one key.
func (r *reader) readValue(c *Config, key string, at int64) error {
	var idle, effects string
	targets := map[string]any{
		"workflow": &c.Workflow, "pool_size": &c.PoolSize, "harness": &c.Harness,
		"review_harness": &c.ReviewHarness, "idle_exit": &idle, "log_level": &c.LogLevel,
		"sessions": &c.Sessions, "agent_env": &c.AgentEnv, "hooks": &c.Hooks,
		"web": &c.Web, "web_input": &c.WebInput, "notify": &c.Notify, "effects": &effects,
	}
	to, ok := targets[key]
	if !ok {
		return r.errorAt(at, fmt.Sprintf("key %q is not known: use workflow, pool_size, harness, review_harness, idle_exit, log_level, sessions, agent_env, hooks, web, web_input, notify, effects", key))
	}
	if err := r.dec.Decode(to); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return r.syntaxError(err)
		}
		return r.errorAt(at, fmt.Sprintf("%s: %s", key, describeExpected(to)))
	}
	switch {
	case key == "pool_size" && c.PoolSize < 1:
		return r.errorAt(at, fmt.Sprintf("pool_size %d: give a positive integer", c.PoolSize))
	case key == "log_level" && !validLevel(c.LogLevel):
		return r.errorAt(at, fmt.Sprintf("log_level %q: give debug, info, warn or error", c.LogLevel))
	case key == "sessions" && c.Sessions != "tmux" && c.Sessions != "headless":
		return r.errorAt(at, fmt.Sprintf("sessions %q: give tmux or headless", c.Sessions))
	case key == "web":
		if err := CheckLoopback(c.Web); err != nil {
			return r.errorAt(at, fmt.Sprintf("web %v", err))
		}
	case key == "notify":
		for i := range c.Notify {
			if err := c.Notify[i].Check(); err != nil {
				return r.errorAt(at, fmt.Sprintf("notify, number %d: %v", i+1, err))
			}
		}
	case key == "effects":
		if effects != "do" && effects != "record" {
			return r.errorAt(at, fmt.Sprintf("effects %q: give do or record", effects))
		}
		c.Record = effects == "record"
	case key == "idle_exit":
		d, err := time.ParseDuration(idle)
		if err != nil || d <= 0 {
			return r.errorAt(at, fmt.Sprintf("idle_exit %q: give a time such as 30m", idle))
		}
		c.IdleExit = d
	}
	return nil
}

func describeExpected(to any) string {
	switch to.(type) {
	case *int:
		return "give a positive integer"
	case *bool:
		return "give true or false"
	case *[]string:
		return "give a list of strings"
	case *[]Notify:
		return "give a list of objects with kind, url, secret, on, projects and brief"
	}
	return "give a string"
}

// syntaxError reports text that is not JSON, at the position where the parser stopped.
func (r *reader) syntaxError(err error) error {
	at := r.dec.InputOffset()
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		at = max(syntax.Offset-1, 0)
	}
	return r.errorAt(at, "not JSON: "+err.Error())
}

func (r *reader) errorAt(at int64, why string) error {
	before := r.text[:max(0, min(int(at), len(r.text)))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := len(before) - bytes.LastIndexByte(before, '\n')
	return fmt.Errorf("%s:%d:%d: %s", r.path, line, column, why)
}

func validLevel(s string) bool {
	return slices.Contains([]string{"debug", "info", "warn", "error"}, strings.ToLower(s))
}
