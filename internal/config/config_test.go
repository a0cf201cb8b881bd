package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orange/internal/config"
)

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func at(dir string) func() (string, error) { return func() (string, error) { return dir, nil } }

func TestPlaces(t *testing.T) {
	home := t.TempDir()
	tests := []struct {
		name             string
		env              []string
		wantHome, wantIn string
	}{
		{"nothing set", nil, filepath.Join(home, ".local/share/orange"), "/tmp/orange-"},
		{"XDG folders", []string{"XDG_DATA_HOME", home + "/d", "XDG_RUNTIME_DIR", "/run/user/7"}, home + "/d/orange", "/run/user/7/orange-"},
		{"own folder wins", []string{"ORANGE_HOME", home + "/o", "XDG_DATA_HOME", home + "/d"}, home + "/o", "/tmp/orange-"},
		{"a relative XDG folder does not count", []string{"XDG_DATA_HOME", "d", "XDG_RUNTIME_DIR", "r"}, filepath.Join(home, ".local/share/orange"), "/tmp/orange-"},
		{"temporary folder", []string{"TMPDIR", "/var/tmp"}, filepath.Join(home, ".local/share/orange"), "/var/tmp/orange-"},
		{"long paths give way", []string{"TMPDIR", "/" + strings.Repeat("x", 100), "XDG_RUNTIME_DIR", "/" + strings.Repeat("y", 100)}, filepath.Join(home, ".local/share/orange"), "/tmp/orange-"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, err := config.Load(env(tt.env...), at(home))
			if err != nil {
				t.Fatal(err)
			}
			if c.Home != tt.wantHome || !strings.HasPrefix(c.Socket, tt.wantIn) || len(c.Socket) > config.MaxSocketPath {
				t.Errorf("home %s, socket %s, want %s and %s...", c.Home, c.Socket, tt.wantHome, tt.wantIn)
			}
		})
	}
}

func TestOneSocketPerFolderWhateverItIsCalled(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink(dir, dir+"/link"); err != nil {
		t.Fatal(err)
	}
	direct, _ := config.Load(env("ORANGE_HOME", dir+"/data"), at(dir))
	linked, _ := config.Load(env("ORANGE_HOME", dir+"/link/data"), at(dir))
	other, _ := config.Load(env("ORANGE_HOME", dir+"/other"), at(dir))
	if direct.Socket != linked.Socket || direct.Socket == other.Socket {
		t.Errorf("sockets: direct %s, through a link %s, other folder %s", direct.Socket, linked.Socket, other.Socket)
	}
}

func TestInsideAnAttempt(t *testing.T) {
	c, err := config.Load(env("ORANGE_ROLE", "worker", "ORANGE_TASK", "abc", "ORANGE_ATTEMPT", "3"), at(t.TempDir()))
	if err != nil || c.Role != "worker" || c.Task != "abc" || c.Attempt != 3 {
		t.Errorf("got %+v, %v", c, err)
	}
}

func TestNoHomeAnywhere(t *testing.T) {
	lost := func() (string, error) { return "", errors.New("no home") }
	if _, err := config.Load(env(), lost); err == nil || !strings.Contains(err.Error(), "set ORANGE_HOME") {
		t.Errorf("got %v", err)
	}
}

func TestFile(t *testing.T) {
	tests := []struct {
		name, text string
		env        []string
		want       config.Config
		wantErr    string // after the path
	}{
		{
			name: "every key",
			text: `{"workflow":"w","pool_size":4,"harness":"codex","review_harness":"pi","idle_exit":"30m","log_level":"debug","sessions":"headless","agent_env":["A","B"]}`,
			want: config.Config{
				Workflow: "w", PoolSize: 4, Harness: "codex", ReviewHarness: "pi", IdleExit: 30 * time.Minute, LogLevel: "debug",
				Sessions: "headless", AgentEnv: []string{"A", "B"},
			},
		},
		{name: "empty object", text: "{}", want: config.Config{LogLevel: "info"}},
		{name: "the environment beats the file", text: `{"log_level":"debug"}`, env: []string{"ORANGE_LOG_LEVEL", "warn"}, want: config.Config{LogLevel: "warn"}},
		{name: "unknown key", text: "{\n  \"workflow\": \"w\",\n  \"poolsize\": 4\n}", wantErr: `:3:3: key "poolsize" is not known: use workflow,`},
		{name: "key twice", text: `{"harness":"a","harness":"b"}`, wantErr: `:1:16: key "harness" is there twice`},
		{name: "wrong type", text: "{\n\"pool_size\": \"4\"}", wantErr: ":2:1: pool_size: give a positive integer"},
		{name: "pool of nothing", text: `{"pool_size":0}`, wantErr: ":1:2: pool_size 0: give a positive integer"},
		{name: "no time", text: `{"idle_exit":"soon"}`, wantErr: `idle_exit "soon": give a time such as 30m`},
		{name: "no level", text: `{"log_level":"loud"}`, wantErr: `log_level "loud": give debug, info, warn or error`},
		{name: "theme", text: `{"theme":"light"}`, want: config.Config{LogLevel: "info", Theme: "light"}},
		{name: "link to an editor", text: `{"editor_link":"vscode://file{path}"}`, want: config.Config{LogLevel: "info", EditorLink: "vscode://file{path}"}},
		{name: "link to no folder", text: `{"editor_link":"vscode://file"}`, wantErr: `editor_link "vscode://file": give an address with {path} in it`},
		{name: "link that is a program", text: `{"editor_link":"JavaScript:alert('{path}')"}`, wantErr: `give an address with {path} in it`},
		{name: "no link", text: `{"editor_link":"code {path}"}`, wantErr: `give an address with {path} in it`},
		{name: "no theme", text: `{"theme":"pink"}`, wantErr: `theme "pink": give auto, light or dark`},
		{name: "no sessions", text: `{"sessions":"screen"}`, wantErr: `sessions "screen": give tmux or headless`},
		{name: "no list", text: `{"agent_env":"A"}`, wantErr: "agent_env: give a list of strings"},
		{name: "wrong effects", text: `{}`, env: []string{"ORANGE_EFFECTS", "x"}, wantErr: `ORANGE_EFFECTS "x": give do or record`},
		{name: "effects of the file", text: `{"effects":"record"}`, want: config.Config{LogLevel: "info", Record: true}},
		{name: "effects of the file, wrong", text: `{"effects":"x"}`, wantErr: `effects "x": give do or record`},
		{name: "effects of the environment", text: `{}`, env: []string{"ORANGE_EFFECTS", "record"}, want: config.Config{LogLevel: "info", Record: true, RecordHere: true}},
		{name: "effects of both", text: `{"effects":"record"}`, env: []string{"ORANGE_EFFECTS", "record"}, want: config.Config{LogLevel: "info", Record: true}},
		{name: "effects, for once", text: `{"effects":"record"}`, env: []string{"ORANGE_EFFECTS", "do"}, want: config.Config{LogLevel: "info"}},
		{name: "not an object", text: `[]`, wantErr: ":1:1: the file is not a JSON object"},
		{name: "cut off", text: `{"harness":`, wantErr: "not JSON"},
		{name: "not closed", text: `{"harness":"a"`, wantErr: "not JSON"},
		{name: "two objects", text: `{} {}`, wantErr: "something after the object"},
		{name: "wrong attempt", text: `{}`, env: []string{"ORANGE_ATTEMPT", "x"}, wantErr: `ORANGE_ATTEMPT "x": give a positive integer`},
		{name: "wrong level outside", text: `{}`, env: []string{"ORANGE_LOG_LEVEL", "x"}, wantErr: `ORANGE_LOG_LEVEL "x": give debug`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "orange", "config.json")
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(tt.text), 0o600)); err != nil {
				t.Fatal(err)
			}
			got, err := config.Load(env(append(tt.env, "XDG_CONFIG_HOME", dir)...), at(dir))
			if tt.wantErr != "" {
				if err == nil && len(got.Problems) > 0 {
					err = got.Problems[0].Err
				}
				if err == nil {
					err = got.Unsafe
				}
				if err == nil || !strings.Contains(err.Error(), tt.wantErr) || strings.Contains(err.Error(), "\n") {
					t.Fatalf("got %v, want %q", err, tt.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			tt.want.Home, tt.want.ConfigDir, tt.want.UserWorkflows, tt.want.Socket, tt.want.FallbackSocket = got.Home, got.ConfigDir, got.UserWorkflows, got.Socket, got.FallbackSocket
			tt.want.Terminal, tt.want.Tmux = filepath.Join(got.Home, "tmux.sock"), got.Tmux
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What is wrong with one key leaves the others, and stops a server only if it cannot know whether it
// may act.
func TestAProblemConcernsItsKeyOnly(t *testing.T) {
	for name, tt := range map[string]struct {
		text, keys string
		unsafe     bool
	}{
		"a channel":         {`{"notify":[{"kind":"bell"},{"kind":"pigeon"},{"kind":"bell","on":["sleep"]}],"pool_size":3}`, "notify notify", false},
		"no channels":       {`{"notify":{},"pool_size":3}`, "notify", false},
		"several keys":      {`{"sessions":"x","harness":7,"odd":{"a":[1]},"pool_size":3,"pool_size":4}`, "sessions harness odd pool_size", false},
		"effects":           {`{"effects":"recrod","pool_size":3}`, "effects", true},
		"a comma":           {`{"pool_size":3,"notify":[{"kind":"bell"} {"kind":"bell"}]}`, "", true},
		"a value, half way": {`{"pool_size":3,"agent_env":["A",1]}`, "agent_env", false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "orange", "config.json")
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(tt.text), 0o600)); err != nil {
				t.Fatal(err)
			}
			got, err := config.Load(env("XDG_CONFIG_HOME", dir), at(dir))
			if err != nil {
				t.Fatal(err)
			}
			var keys []string
			for _, p := range got.Problems {
				keys = append(keys, p.Key)
				if !strings.HasPrefix(p.Err.Error(), path+":1:") {
					t.Errorf("%v has no place", p.Err)
				}
			}
			if strings.Join(keys, " ") != tt.keys || (got.Unsafe != nil) != tt.unsafe || got.PoolSize != 3 || got.AgentEnv != nil || got.Sessions != "" {
				t.Errorf("%+v", got)
			}
			if name == "a channel" && (len(got.Notify) != 1 || got.Notify[0].Kind != "bell") {
				t.Errorf("%+v", got.Notify)
			}
			again, err := got.Reload(env())
			if diff := cmp.Diff(got, again, cmp.Comparer(func(a, b error) bool { return a == b || a != nil && b != nil && a.Error() == b.Error() })); err != nil || diff != "" {
				t.Errorf("%v, %s", err, diff)
			}
		})
	}
}

func TestServerEnv(t *testing.T) {
	got := config.ServerEnv([]string{
		"PATH=/bin", "HOME=/h", "LC_ALL=C", "XDG_RUNTIME_DIR=/run", "ORANGE_HOME=/o", "ORANGE_LOG_LEVEL=debug", "SSH_AUTH_SOCK=/s",
		"ORANGE_ROLE=worker", "ORANGE_TASK=t", "ORANGE_ATTEMPT=1", "ORANGE_TOKEN=x", "GITHUB_TOKEN=x", "CLAUDECODE=1", "LCX=1", "odd",
		"ANTHROPIC_API_KEY=k", "CLAUDE_CODE_ENTRYPOINT=cli", "MINE=1", "OTHER=1",
	}, "MINE")
	want := []string{"PATH=/bin", "HOME=/h", "LC_ALL=C", "XDG_RUNTIME_DIR=/run", "ORANGE_HOME=/o", "ORANGE_LOG_LEVEL=debug", "SSH_AUTH_SOCK=/s", "GITHUB_TOKEN=x", "ANTHROPIC_API_KEY=k", "MINE=1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAgentEnv(t *testing.T) {
	environ := []string{
		"PATH=/bin", "TERM=dumb", "ANTHROPIC_API_KEY=a", "OPENAI_API_KEY=o", "GEMINI_API_KEY=g", "OPENROUTER_API_KEY=r", "GITHUB_TOKEN=x", "GH_TOKEN=x",
		"LINEAR_API_KEY=x", "SSH_AUTH_SOCK=/s", "ORANGE_HOME=/o", "ORANGE_TOKEN=x", "CLAUDECODE=1", "CLAUDE_CODE_SSE_PORT=1", "MINE=1",
	}
	all := []string{"PATH=/bin", "ANTHROPIC_API_KEY=a", "OPENAI_API_KEY=o", "GEMINI_API_KEY=g", "OPENROUTER_API_KEY=r", "MINE=1"}
	for harness, want := range map[string][]string{
		"claude": {"PATH=/bin", "ANTHROPIC_API_KEY=a", "MINE=1"}, "codex": {"PATH=/bin", "OPENAI_API_KEY=o", "MINE=1"},
		"gemini": {"PATH=/bin", "GEMINI_API_KEY=g", "MINE=1"}, "pi": all, "opencode": all, "command:x": all,
	} {
		if diff := cmp.Diff(want, config.AgentEnv(environ, harness, "MINE")); diff != "" {
			t.Errorf("%s: %s", harness, diff)
		}
	}
}

func TestGitHasKeysOnlyWhereItUsesThem(t *testing.T) {
	environ := []string{
		"PATH=/bin", "HOME=/h", "LC_ALL=C", "https_proxy=p", "GIT_SSH_COMMAND=ssh -i k", "GNUPGHOME=/g", "GPG_TTY=/dev/pts/1", "SSH_AUTH_SOCK=/s",
		"OPENAI_API_KEY=k", "GITHUB_TOKEN=k", "ORANGE_ATTEMPT_KEY=server", "GIT_DIR=/x", "GIT_CONFIG_COUNT=1", "GIT_EXTERNAL_DIFF=x",
	}
	want := []string{"PATH=/bin", "HOME=/h", "LC_ALL=C", "https_proxy=p", "GIT_SSH_COMMAND=ssh -i k", "GNUPGHOME=/g", "GPG_TTY=/dev/pts/1"}
	if got := config.GitEnv(environ, false); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if got := config.GitEnv(environ, true); !slices.Equal(got, append(want, "SSH_AUTH_SOCK=/s")) {
		t.Errorf("with keys: %q", got)
	}
}

func TestToolEnv(t *testing.T) {
	got := config.ToolEnv([]string{"PATH=/bin", "ANTHROPIC_API_KEY=a", "GITHUB_TOKEN=x", "SSH_AUTH_SOCK=/s", "GOPATH=/go"})
	if diff := cmp.Diff([]string{"PATH=/bin", "GOPATH=/go"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestTheTerminalsSocketIsShortEnough(t *testing.T) {
	long := filepath.Join(t.TempDir(), strings.Repeat("x", 120))
	got, err := config.Load(env("ORANGE_HOME", long), at(t.TempDir()))
	if err != nil || len(got.Terminal) > config.MaxSocketPath || !strings.HasSuffix(got.Terminal, ".tmux") {
		t.Errorf("%q, %v", got.Terminal, err)
	}
	for _, home := range []string{long, "/home/someone/.local/share/orange", "/" + strings.Repeat("x", 48)} {
		got, err := config.Load(env("ORANGE_HOME", home), at(t.TempDir()))
		if socket := got.Tmux + "/123456789012/tmux-4294967295/a-name-of-20-bytes.."; err != nil || len(socket) > config.MaxSocketPath {
			t.Errorf("%q, %v", socket, err)
		}
	}
	for _, name := range []string{"TMUX=/s,1,0", "TMUX_PANE=%1", "TMUX_TMPDIR=/t"} {
		if got := config.AgentEnv([]string{name}, "claude", "TMUX", "TMUX_PANE", "TMUX_TMPDIR"); len(got) != 0 {
			t.Errorf("an agent has %q", got)
		}
		if got := config.ServerEnv([]string{name}); len(got) != 0 {
			t.Errorf("a server has %q", got)
		}
	}
}
