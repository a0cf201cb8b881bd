// Package config turns the environment and the user's config.json into one Config. No other
// package reads the environment. It finds paths and values; it creates nothing and starts
// nothing.
package config

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Config is everything that is known before a command runs.
type Config struct {
	Home           string // the data folder
	ConfigDir      string
	UserWorkflows  string // folder of the user's own workflow files
	Socket         string // where the server of this data folder listens
	FallbackSocket string // where it listens while it cannot listen at Socket

	Role    string // set inside an agent's attempt: its role
	Task    string // set inside an attempt: its task
	Attempt int    // set inside an attempt: its number
	Token   string // set inside an attempt: the secret that identifies it

	LogLevel string // debug, info, warn or error

	Workflow      string                     // workflow of new projects; "" for the built-in default
	PoolSize      int                        // of new projects; 0 for the built-in default
	Harness       string                     // of new tasks; "" for the first one found
	ReviewHarness string                     // of new tasks; "" for the built-in default
	Harnesses     map[string]HarnessSettings // by name
	IdleExit      time.Duration              // when an idle server exits; 0 for the built-in default

	Sessions string   // tmux or headless; "" for tmux if it is installed
	Terminal string   // socket of this data folder's tmux
	Tmux     string   // folder of the folders in which agents may start their own tmux
	AgentEnv []string // additional variables that agents inherit
	Hooks    string   // address for webhooks of trackers; "" for none
	Web      string   // address of the web page; "" for none
	WebInput bool     // people may type into agents' terminals on the page
	Metrics  string   // address or port for Prometheus; "" for none
	Notify   []Notify // channels for notifications that something waits for a person
	NoColor  bool     // NO_COLOR is set
	Theme    string   // of the dashboard: auto, light or dark; "" is auto
	Record   bool     // effects are recorded instead of carried out

	EditorLink string // address that opens a folder in the editor of the person, with {path} in it; "" for none

	// Problems are what is wrong with keys of config.json. Such a key counts as left out.
	Problems []Problem
	// Unsafe is why no server may start: config.json cannot be read at all, or it does not say
	// whether effects are carried out. Nil if one may.
	Unsafe error

	// RecordHere means that only ORANGE_EFFECTS of this process sets Record: a server that it
	// starts would not know.
	RecordHere bool
}

// HarnessSettings are the settings of one harness.
type HarnessSettings struct {
	Path string `json:"path"` // of its program; "" for the one in PATH
}

// FindProgram finds the program of a harness: the one that is set, else the one in PATH.
func (c *Config) FindProgram(name string) (string, error) {
	return exec.LookPath(cmp.Or(c.Harnesses[name].Path, name))
}

// MaxSocketPath is the longest socket path that every system accepts, in bytes.
const MaxSocketPath = 103

// A Problem is what is wrong with one key of config.json.
type Problem struct {
	Key     string
	Unknown bool  // there is no such key; another one may be meant
	Err     error // with file, line and column
}

// Load reads the environment and config.json. What is wrong with config.json is in Problems and
// Unsafe, and no error. If Load fails, the paths in the Config are still valid, so that commands that
// need nothing else can run.
func Load(getenv func(string) string, home func() (string, error)) (Config, error) {
	c := Config{}
	if err := c.findPlaces(getenv, home); err != nil {
		return c, err
	}
	c.NoColor = getenv("NO_COLOR") != ""
	c.Role, c.Task, c.Token = getenv("ORANGE_ROLE"), getenv("ORANGE_TASK"), getenv("ORANGE_TOKEN")
	c.readFile(c.File())
	return c, c.applyEnvironment(getenv)
}

// File returns the path of config.json.
func (c *Config) File() string { return filepath.Join(c.ConfigDir, "config.json") }

// Reload reads config.json again, for the same data folder.
func (c *Config) Reload(getenv func(string) string) (Config, error) {
	next := Config{
		Home: c.Home, ConfigDir: c.ConfigDir, UserWorkflows: c.UserWorkflows, Socket: c.Socket, FallbackSocket: c.FallbackSocket, Terminal: c.Terminal, Tmux: c.Tmux,
		Role: c.Role, Task: c.Task, Token: c.Token, NoColor: c.NoColor,
	}
	next.readFile(next.File())
	return next, next.applyEnvironment(getenv)
}

func (c *Config) applyEnvironment(getenv func(string) string) error {
	if s := getenv("ORANGE_ATTEMPT"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			return fmt.Errorf("ORANGE_ATTEMPT %q: give a positive integer, or unset it", s)
		}
		c.Attempt = n
	}
	switch s := getenv("ORANGE_EFFECTS"); s {
	case "":
	case "do":
		c.Record = false
	case "record":
		c.RecordHere = !c.Record
		c.Record = true
	default:
		return fmt.Errorf("ORANGE_EFFECTS %q: give do or record, or unset it", s)
	}
	if s := getenv("ORANGE_LOG_LEVEL"); s != "" {
		if !validLevel(s) {
			return fmt.Errorf("ORANGE_LOG_LEVEL %q: give debug, info, warn or error", s)
		}
		c.LogLevel = s
	}
	c.LogLevel = strings.ToLower(cmp.Or(c.LogLevel, "info"))
	return nil
}

func (c *Config) findPlaces(getenv func(string) string, home func() (string, error)) error {
	data, err := xdgFolder(getenv, home, "XDG_DATA_HOME", ".local/share")
	if own := getenv("ORANGE_HOME"); own != "" {
		data, err = filepath.Abs(own)
	}
	if err != nil {
		return fmt.Errorf("find the data folder: %w; set ORANGE_HOME", err)
	}
	c.Home = resolveLinks(data)
	c.Socket, c.FallbackSocket = socketPaths(getenv, c.Home)
	c.Terminal, c.Tmux = TerminalSocket(c.Home), agentTmux(c.Home)
	c.ConfigDir, err = xdgFolder(getenv, home, "XDG_CONFIG_HOME", ".config")
	if err != nil {
		return fmt.Errorf("find the configuration folder: %w; set XDG_CONFIG_HOME", err)
	}
	c.UserWorkflows = filepath.Join(c.ConfigDir, "workflows")
	return nil
}

// xdgFolder returns $xdg/orange, or the corresponding folder below the user's home. A relative
// $xdg does not count, as its specification requires.
func xdgFolder(getenv func(string) string, home func() (string, error), xdg, below string) (string, error) {
	if base := getenv(xdg); filepath.IsAbs(base) {
		return filepath.Join(base, "orange"), nil
	}
	base, err := home()
	if err != nil {
		return "", err
	}
	return filepath.Join(base, below, "orange"), nil
}

// resolveLinks follows links, so that a folder has one name and its server one socket, even
// before the folder itself exists.
func resolveLinks(path string) string {
	rest := ""
	for at := path; ; at = filepath.Dir(at) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		if at == filepath.Dir(at) {
			return path
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}

// socketPaths derives the server's socket from a hash of the data folder, because a path may
// have any length and that of a socket may not. The spare path does not depend on the runtime
// folder, which is removed with the user's session.
func socketPaths(getenv func(string) string, home string) (path, fallback string) {
	name := shortHash(home) + ".sock"
	private := filepath.Join("orange-"+strconv.Itoa(os.Getuid()), name)
	temp := getenv("TMPDIR")
	if !filepath.IsAbs(temp) {
		temp = "/tmp"
	}
	if fallback = filepath.Join(temp, private); len(fallback) > MaxSocketPath {
		fallback = filepath.Join("/tmp", private)
	}
	if run := getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(run) {
		if path = filepath.Join(run, "orange-"+name); len(path) <= MaxSocketPath {
			return path, fallback
		}
	}
	return fallback, fallback
}

// TerminalSocket returns the socket of the tmux that holds the agents' windows. It depends only
// on the data folder, so that a server with another environment finds them again.
func TerminalSocket(home string) string {
	if path := filepath.Join(home, "tmux.sock"); len(path) <= MaxSocketPath {
		return path
	}
	return filepath.Join("/tmp", "orange-"+strconv.Itoa(os.Getuid()), shortHash(home)+".tmux")
}

// agentTmux returns the folder for the sockets of agents' own tmux servers, each agent in a
// folder with a name of up to 12 bytes. tmux puts a socket in a folder there that is named by
// the user id.
func agentTmux(home string) string {
	path := filepath.Join(home, "tmux")
	if len(filepath.Join(path, "123456789012", "tmux-4294967295", "name-of-20-bytes-....")) <= MaxSocketPath {
		return path
	}
	return filepath.Join("/tmp", "orange-"+strconv.Itoa(os.Getuid()), shortHash(home)+".agents")
}

// shortHash returns a short name for a data folder.
func shortHash(home string) string {
	sum := sha256.Sum256([]byte(home))
	return hex.EncodeToString(sum[:4])
}
