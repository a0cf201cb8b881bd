package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode"

	"github.com/rogpeppe/go-internal/testscript"

	"orange/internal/adapter/lock"
	"orange/internal/config"
	"orange/internal/ui/client"
)

// TestMain lets the test binary be orange itself, so that the stories start servers
// and record effects with the program under test.
func TestMain(m *testing.M) {
	testscript.Main(tidy{m}, map[string]func(){
		"orange": func() {
			if program := os.Getenv(programVariable); program != "" && isSearch(os.Args[1:]) {
				panic(syscall.Exec(program, os.Args, os.Environ()))
			}
			code := run(os.Args[1:])
			if len(os.Args) > 1 && os.Args[1] == "record-effect" {
				syscall.Exit(code) // it has no environment: the race detector would take a second to leave
			}
			os.Exit(code)
		},
	})
}

// isSearch reports whether a command only searches the states of a workflow. The race detector would make that ten
// times as long and could find nothing: the search has no goroutines of its own, and a test of core/verify that lends it
// some runs with the race detector.
func isSearch(args []string) bool {
	return len(args) > 1 && args[0] == "workflow" && (args[1] == "verify" || args[1] == "simulate")
}

// quickStories are what make quick runs of the stories: those without a server, and the main path.
var quickStories = []string{"main_path", "habit_01_help", "habit_03_words_people_type", "habit_04_version", "habit_18_completion", "detect", "openapi"}

// TestStories runs testdata/script/*.txtar, each with a data folder, a user and
// servers of its own. The commands beside orange are in script_commands_test.go.
func TestStories(t *testing.T) {
	t.Parallel()
	folder, files := filepath.Join("testdata", "script"), []string(nil)
	if testing.Short() {
		for _, name := range quickStories {
			files = append(files, filepath.Join(folder, name+".txtar"))
		}
		folder = ""
	}
	testscript.Run(t, testscript.Params{
		Dir: folder, Files: files, Setup: setUp, RequireUniqueNames: true, Condition: condition,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"repo": cmdRepo, "taskid": cmdTaskID, "section": cmdSection, "settle": cmdSettle, "refused": cmdRefused,
			"oneline": cmdOneLine, "jsonhas": cmdJSONHas, "effects": cmdEffects, "race": cmdRace, "ask": cmdAsk, "killserver": cmdKillServer,
			"corrupt": cmdCorrupt, "mount": cmdMount, "remount": cmdRemount, "waitfor": cmdWaitFor, "fill": cmdFill, "page": cmdPage, "exits": cmdExits, "connected": cmdConnected, "release": cmdRelease,
		},
	})
}

// What new users try first was once written down as 35 habits. The first line of a story says which of them it shows.
func TestEveryHabitHasAStory(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "script", "habit_*.txtar"))
	check(t, err)
	shown := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		check(t, err)
		first, _, _ := strings.Cut(string(text), ":")
		if numbers, ok := strings.CutPrefix(first, "# Habit"); ok {
			for _, word := range strings.FieldsFunc(numbers, func(r rune) bool { return !unicode.IsDigit(r) }) {
				shown[word] = true
			}
		}
	}
	for number := 1; number <= 35; number++ {
		if !shown[strconv.Itoa(number)] {
			t.Errorf("no story begins with # Habit %d:", number)
		}
	}
}

// setUp gives a story its folders and ends its servers when it is over.
func setUp(env *testscript.Env) error {
	for _, v := range [][2]string{
		{"HOME", "user"}, {"ORANGE_HOME", "home"}, {"XDG_CONFIG_HOME", "config"}, {"XDG_DATA_HOME", "data"}, {"XDG_RUNTIME_DIR", "run"},
	} {
		dir := filepath.Join(env.WorkDir, v[1])
		env.Setenv(v[0], dir)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	for _, who := range []string{"AUTHOR", "COMMITTER"} {
		env.Setenv("GIT_"+who+"_NAME", "Orange")
		env.Setenv("GIT_"+who+"_EMAIL", "orange@example.com")
	}
	env.Setenv("TERMINAL", config.TerminalSocket(env.Getenv("ORANGE_HOME"))) // of the agents' tmux
	env.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	env.Setenv("TZ", "UTC")
	// Effects are written down, but in a story that brings another config.json.
	settings := filepath.Join(env.WorkDir, "config", "orange", "config.json")
	if _, err := os.Stat(settings); err != nil {
		if err := errors.Join(os.MkdirAll(filepath.Dir(settings), 0o700), os.WriteFile(settings, []byte(`{"effects": "record"}`), 0o600)); err != nil {
			return err
		}
	}
	env.Setenv("GORACE", "atexit_sleep_ms=0")
	if withRace {
		program, err := built()
		if err != nil {
			return err
		}
		env.Setenv(programVariable, program)
	}
	env.Defer(func() { tearDown(env) })
	return nil
}

// tearDown ends the servers of a story and the terminals that it shows, and fails it if one of them broke unseen.
func tearDown(env *testscript.Env) {
	for _, name := range []string{"stage", "own"} {
		endTerminals(filepath.Join(env.WorkDir, name))
	}
	locks, _ := filepath.Glob(filepath.Join(env.WorkDir, "*", "server.lock"))
	broke := ""
	for _, path := range locks {
		home := filepath.Dir(path)
		if err := endStory(home, env.Getenv); err != nil {
			env.T().Log("end the server of " + home + ": " + err.Error())
		}
		endTerminals(config.TerminalSocket(home))
		said, _ := os.ReadFile(filepath.Join(home, "serve.err"))
		if strings.Contains(string(said), "DATA RACE") || strings.Contains(string(said), "goroutine ") {
			broke += string(said)
		}
	}
	if broke != "" {
		env.T().Fatal(broke)
	}
}

// endTerminals ends the tmux with this socket, if there is one.
func endTerminals(socket string) {
	exec.Command("tmux", "-S", socket, "kill-server").Run() //nolint:errcheck // most stories have none
}

// patience bounds every wait of a story.
const patience = 30 * time.Second

// clientOf returns a client of the server of a data folder, running or not. That the
// configuration is broken does not matter here.
func clientOf(home string, getenv func(string) string) *client.Client {
	cfg, _ := config.Load(func(name string) string {
		if name == "ORANGE_HOME" {
			return home
		}
		return getenv(name)
	}, os.UserHomeDir)
	return client.New(client.FindSocket(client.DialOptions{Socket: cfg.Socket, Home: cfg.Home}))
}

// endStory ends the attempts of a data folder and its server. The server is paused first, because the shim of an agent
// that ends starts a server where there is none.
func endStory(home string, getenv func(string) string) error {
	if folders, _ := filepath.Glob(filepath.Join(home, "attempts", "*", "*")); len(folders) > 0 {
		c := clientOf(home, getenv)
		defer c.Close()
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		c.PauseAll(ctx) //nolint:errcheck // the attempts are ended all the same
		if err := endAttempts(os.Args[0], home); err != nil {
			return err
		}
	}
	return endServer(home, getenv)
}

// endServer tells the server of a data folder to stop, and kills it if it does not.
func endServer(home string, getenv func(string) string) error {
	c := clientOf(home, getenv)
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	path := filepath.Join(home, "server.lock")
	pid := lock.ReadHolder(home).PID
	if c.StopServer(ctx) == nil && until(ctx, func() bool { return !held(path) }) {
		return nil
	}
	if !held(path) || !isOurs(pid) {
		return nil
	}
	return syscall.Kill(pid, syscall.SIGKILL)
}

// held says whether a living server holds its lock.
func held(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close() //nolint:errcheck // nothing was written
	return syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) != nil
}

// isOurs says whether a process runs the orange of these tests.
func isOurs(pid int) bool {
	exe, err := os.Readlink(filepath.Join("/proc", strconv.Itoa(pid), "exe"))
	return pid > 0 && err == nil && filepath.Base(exe) == "orange" && filepath.Base(filepath.Dir(exe)) == "bin"
}

// until asks again and again whether something is so, as long as ctx allows.
func until(ctx context.Context, ok func() bool) bool {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
	}
	return true
}
