package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"orange/internal/core/agent"
)

// readFile reads the keys of config.json. A missing file is no problem.
func (c *Config) readFile(path string) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		c.Unsafe = fmt.Errorf("read the configuration: %w", err)
		return
	}
	r := reader{text: text, path: path, dec: json.NewDecoder(bytes.NewReader(text))}
	if err := r.readObject(c); err != nil {
		c.Unsafe = err
	}
	for _, p := range c.Problems {
		if p.Key == "effects" {
			c.Unsafe = p.Err
		}
	}
}

// reader reads one JSON object key by key, so that errors have a position and concern one key.
type reader struct {
	text []byte
	path string
	dec  *json.Decoder
}

// readObject reads all keys. It returns an error if the text is not a JSON object.
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
		var value json.RawMessage
		if err := r.dec.Decode(&value); err != nil {
			return r.syntaxError(err)
		}
		if slices.Contains(seen, key) {
			c.Problems = append(c.Problems, Problem{Key: key, Err: r.errorAt(at, fmt.Sprintf("key %q is there twice", key))})
			continue
		}
		seen = append(seen, key)
		before := *c
		if err := r.readValue(c, key, at, value); err != nil {
			*c = before
			c.Problems = append(c.Problems, Problem{Key: key, Err: err})
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
func (r *reader) readValue(c *Config, key string, at int64, value json.RawMessage) error {
	if key == "notify" {
		return r.readChannels(c, at, value)
	}
	var idle, effects string
	targets := map[string]any{
		"workflow": &c.Workflow, "pool_size": &c.PoolSize, "harness": &c.Harness,
		"review_harness": &c.ReviewHarness, "idle_exit": &idle, "log_level": &c.LogLevel,
		"sessions": &c.Sessions, "agent_env": &c.AgentEnv, "hooks": &c.Hooks,
		"harnesses": &c.Harnesses, "web": &c.Web, "web_input": &c.WebInput, "editor_link": &c.EditorLink, "metrics": &c.Metrics, "theme": &c.Theme, "effects": &effects,
	}
	to, ok := targets[key]
	if !ok {
		c.Problems = append(c.Problems, Problem{Key: key, Unknown: true, Err: r.errorAt(at, fmt.Sprintf("key %q is not known: use workflow, pool_size, harness, review_harness, harnesses, idle_exit, log_level, sessions, agent_env, hooks, web, web_input, editor_link, metrics, theme, notify, effects", key))})
		return nil
	}
	if err := json.Unmarshal(value, to); err != nil {
		return r.errorAt(at, fmt.Sprintf("%s: %s", key, describeExpected(to)))
	}
	switch {
	case key == "pool_size" && c.PoolSize < 1:
		return r.errorAt(at, fmt.Sprintf("pool_size %d: give a positive integer", c.PoolSize))
	case key == "log_level" && !validLevel(c.LogLevel):
		return r.errorAt(at, fmt.Sprintf("log_level %q: give debug, info, warn or error", c.LogLevel))
	case key == "sessions" && c.Sessions != "tmux" && c.Sessions != "headless":
		return r.errorAt(at, fmt.Sprintf("sessions %q: give tmux or headless", c.Sessions))
	case key == "theme" && c.Theme != "auto" && c.Theme != "light" && c.Theme != "dark":
		return r.errorAt(at, fmt.Sprintf("theme %q: give auto, light or dark", c.Theme))
	case key == "harnesses":
		for name, h := range c.Harnesses {
			if why := c.checkHarness(name, h); why != "" {
				return r.errorAt(at, why)
			}
		}
	case key == "web":
		if err := CheckLoopback(c.Web); err != nil {
			return r.errorAt(at, fmt.Sprintf("web %v", err))
		}
	case key == "editor_link":
		if err := checkEditorLink(c.EditorLink); err != nil {
			return r.errorAt(at, fmt.Sprintf("editor_link %v", err))
		}
	case key == "metrics":
		if _, err := MetricsAddress(c.Metrics); err != nil {
			return r.errorAt(at, fmt.Sprintf("metrics %v", err))
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

// checkEditorLink reports what is wrong with the address that opens a folder in an editor.
func checkEditorLink(text string) error {
	scheme, _, ok := strings.Cut(text, ":")
	switch strings.ToLower(scheme) {
	case "javascript", "data", "vbscript", "blob":
		ok = false
	}
	if u, err := url.Parse(strings.ReplaceAll(text, "{path}", "/folder")); err != nil || !ok || u.Scheme == "" || !strings.Contains(text, "{path}") {
		return fmt.Errorf("%q: give an address with {path} in it, such as vscode://file{path}", text)
	}
	return nil
}

// readChannels reads the channels for notifications. What is wrong with one leaves the others.
func (r *reader) readChannels(c *Config, at int64, value json.RawMessage) error {
	const expected = "give a list of objects with kind, url, secret, on, projects and brief"
	var list []json.RawMessage
	if err := json.Unmarshal(value, &list); err != nil {
		return r.errorAt(at, "notify: "+expected)
	}
	for i, text := range list {
		var n Notify
		err := json.Unmarshal(text, &n)
		if err != nil {
			err = errors.New(expected)
		} else {
			err = n.Check()
		}
		if err != nil {
			c.Problems = append(c.Problems, Problem{Key: "notify", Err: r.errorAt(at, fmt.Sprintf("notify, number %d: %v", i+1, err))})
			continue
		}
		c.Notify = append(c.Notify, n)
	}
	return nil
}

// checkHarness returns what is wrong with the settings of a harness, or "". It expands ~/ in the path.
func (c *Config) checkHarness(name string, h HarnessSettings) string {
	if _, known := agent.FindHarness(name); !known {
		return fmt.Sprintf("harnesses: %q is not known: use %s", name, strings.Join(agent.HarnessNames(), ", "))
	}
	if rest, ok := strings.CutPrefix(h.Path, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			h.Path = filepath.Join(home, rest)
			c.Harnesses[name] = h
		}
	}
	if !filepath.IsAbs(h.Path) {
		return fmt.Sprintf("harnesses: the path %q of %s is not absolute: give the whole path of the program", h.Path, name)
	}
	return ""
}

func describeExpected(to any) string {
	switch to.(type) {
	case *int:
		return "give a positive integer"
	case *bool:
		return "give true or false"
	case *[]string:
		return "give a list of strings"
	case *map[string]HarnessSettings:
		return `give an object such as {"claude": {"path": "/opt/claude/bin/claude"}}`
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
