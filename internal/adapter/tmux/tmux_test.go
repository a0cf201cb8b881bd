package tmux_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"orange/internal/adapter/tmux"
	"orange/internal/testneeds"
	"orange/internal/wait"
)

// terminal returns a tmux server for one test. Its socket is in a separate folder with a short
// name, because the path of a socket must be short.
func terminal(t *testing.T) *tmux.Server {
	t.Helper()
	return terminalAt(t, func(string) string { return "test" })
}

func terminalAt(t *testing.T, socket func(dir string) string) *tmux.Server {
	t.Helper()
	testneeds.Terminal(t)
	dir, err := os.MkdirTemp("", "tm")
	if err != nil {
		t.Fatal(err)
	}
	s := tmux.New(socket(dir), []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMUX_TMPDIR=" + dir, "TMUX=/elsewhere,1,0", "TMUX_PANE=%0"})
	t.Cleanup(func() {
		if err := s.KillServer(context.WithoutCancel(t.Context())); err != nil {
			t.Errorf("the server does not end: %v", err)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return s
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(text)
}

// recorder appends to the log of a window.
var recorder = []string{"sh", "-c", `exec cat >>"$0"`}

func open(t *testing.T, s *tmux.Server, w tmux.Window) {
	t.Helper()
	if w.Dir == "" {
		w.Dir = t.TempDir()
	}
	if w.Argv == nil {
		w.Argv = []string{"cat"}
	}
	w.Recorder = recorder
	if err := s.OpenWindow(t.Context(), w); err != nil {
		t.Fatal(err)
	}
}

func windows(t *testing.T, s *tmux.Server) []string {
	t.Helper()
	panes, err := s.ListWindows(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range panes {
		if p.PID <= 0 {
			t.Errorf("%+v has no process", p)
		}
		names = append(names, fmt.Sprintf("%s %s dead=%v", p.Session, p.Window, p.Dead))
	}
	slices.Sort(names)
	return names
}

func TestTheInstalledTmuxIsSupported(t *testing.T) {
	version, err := terminal(t).Version(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !tmux.IsSupported(version) {
		t.Errorf("version %q is not supported", version)
	}
}

func TestWithoutAServerNothingIsThereAndNothingIsAnError(t *testing.T) {
	s := terminal(t)
	if got := windows(t, s); len(got) != 0 {
		t.Errorf("windows: %v", got)
	}
	for what, err := range map[string]error{
		"CloseWindow":  s.CloseWindow(t.Context(), "p/b", "w"),
		"CloseSession": s.CloseSession(t.Context(), "p/b"),
		"Rename":       s.RenameSession(t.Context(), "p/b", "p/c"),
		"KillServer":   s.KillServer(t.Context()),
	} {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := s.PasteText(t.Context(), "p/b", "w", "x"); !errors.Is(err, tmux.ErrGone) {
		t.Errorf("Paste: %v", err)
	}
	if err := s.PressEnter(t.Context(), "p/b", "w"); !errors.Is(err, tmux.ErrGone) {
		t.Errorf("Enter: %v", err)
	}
	if _, err := s.CaptureText(t.Context(), "p/b", "w"); !errors.Is(err, tmux.ErrGone) {
		t.Errorf("Capture: %v", err)
	}
}

func TestNamesAreNeverActedUpon(t *testing.T) {
	s := terminal(t)
	bait := t.TempDir()
	names := []string{
		"v1.2.3", "#(touch " + bait + "/a)", "$(touch " + bait + "/b)", "`touch " + bait + "/c`", "#{session_name}", "100%H%M",
		"größe/日本", "a'b\"c", "x;y;", "a:b", "=main", "@0", "$0", "%0", "-d", "main*", "#[fg=red]", "~/x", "{end}", "!", "\\;", "a\n  b\t",
	}
	var want []string
	for _, name := range names {
		dir := filepath.Join(t.TempDir(), name)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		session := tmux.SessionName("p", name)
		prints := strings.ReplaceAll(dir+"\n<"+name+"><end;>", "\n", "\r\n")
		for _, window := range []string{name, "second"} {
			log := filepath.Join(dir, fmt.Sprintf("%x.log", window))
			open(t, s, tmux.Window{Session: session, Name: window, Dir: dir, Log: log,
				Argv: []string{"sh", "-c", `pwd; printf '<%s>' "$@"; exec cat`, "sh", name, "end;"}})
			want = append(want, fmt.Sprintf("%s %s dead=false", session, window))
			wait.Until(t, "the window prints its folder and arguments", func() bool { return read(t, log) == prints })
		}
		if err := s.PasteText(t.Context(), session, name, "hello"); err != nil {
			t.Errorf("%q: %v", name, err)
		}
		wait.Until(t, "pasted text is shown", func() bool {
			shown, err := s.CaptureText(t.Context(), session, name)
			return err == nil && strings.Contains(shown, "hello")
		})
	}
	slices.Sort(want)
	if got := windows(t, s); !slices.Equal(got, want) {
		t.Errorf("windows:\n%q\nwant:\n%q", got, want)
	}
	if left, _ := os.ReadDir(bait); len(left) != 0 {
		t.Errorf("something was executed: %v", left)
	}
	for _, name := range names {
		if err := s.CloseSession(t.Context(), tmux.SessionName("p", name)); err != nil {
			t.Errorf("close %q: %v", name, err)
		}
	}
	if got := windows(t, s); len(got) != 0 {
		t.Errorf("left: %q", got)
	}
}

func TestANameThatIsPartOfAnotherIsNotTakenForIt(t *testing.T) {
	s := terminal(t)
	open(t, s, tmux.Window{Session: "p/feature", Name: "worker-1"})
	open(t, s, tmux.Window{Session: "p/feature", Name: "1"})
	for _, err := range []error{
		s.CloseSession(t.Context(), "p/feat"), s.CloseSession(t.Context(), "p"), s.CloseWindow(t.Context(), "p/feature", "worker"),
		s.CloseWindow(t.Context(), "p/feature", "0"), s.CloseWindow(t.Context(), "p/feat", "worker-1"), s.RenameSession(t.Context(), "p/f", "p/g"),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	if err := s.PasteText(t.Context(), "p/feature", "0", "x"); !errors.Is(err, tmux.ErrGone) {
		t.Errorf("Paste to a window that is not there: %v", err)
	}
	if got, want := windows(t, s), []string{"p/feature 1 dead=false", "p/feature worker-1 dead=false"}; !slices.Equal(got, want) {
		t.Errorf("windows: %q, want %q", got, want)
	}
	if err := s.CloseWindow(t.Context(), "p/feature", "1"); err != nil {
		t.Error(err)
	}
	if got, want := windows(t, s), []string{"p/feature worker-1 dead=false"}; !slices.Equal(got, want) {
		t.Errorf("windows: %q, want %q", got, want)
	}
}

func TestALivingWindowIsKeptAndADeadOneIsUsedAgain(t *testing.T) {
	s := terminal(t)
	dir := t.TempDir()
	log := filepath.Join(dir, "log")
	w := tmux.Window{Session: "p/b", Name: "worker", Dir: dir, Log: log, Recorder: recorder, Argv: []string{"sh", "-c", "echo one; read x; echo two"}}
	open(t, s, w)
	if err := s.OpenWindow(t.Context(), w); !errors.Is(err, tmux.ErrOpen) {
		t.Fatalf("Open of a living window: %v", err)
	}
	if err := s.PressEnter(t.Context(), "p/b", "worker"); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "the program ends", func() bool { return slices.Equal(windows(t, s), []string{"p/b worker dead=true"}) })
	wait.Until(t, "its last words are in the log", func() bool { return strings.Contains(read(t, log), "two\r\n") })
	shown, err := s.CaptureText(t.Context(), "p/b", "worker")
	if err != nil || !strings.Contains(shown, "one") {
		t.Errorf("a dead window shows %q, %v", shown, err)
	}
	if err := s.PasteText(t.Context(), "p/b", "worker", "x"); !errors.Is(err, tmux.ErrGone) {
		t.Errorf("Paste into a dead window: %v", err)
	}
	if err := s.PressEnter(t.Context(), "p/b", "worker"); !errors.Is(err, tmux.ErrGone) {
		t.Errorf("Enter in a dead window: %v", err)
	}
	w.Argv = []string{"sh", "-c", `printf 'three<%s>' "$1"; exec cat`, "sh", `it's;\n;`}
	open(t, s, w)
	wait.Until(t, "the second program prints", func() bool { return strings.Contains(read(t, log), `three<it's;\n;>`) })
	if got, want := windows(t, s), []string{"p/b worker dead=false"}; !slices.Equal(got, want) {
		t.Errorf("windows: %q, want %q", got, want)
	}
	if got := read(t, log); !strings.HasPrefix(got, "one\r\n") || !strings.Contains(got, "two\r\n") {
		t.Errorf("the log is %q", got)
	}
}

func TestAWindowIsFoundInASessionWithAGap(t *testing.T) {
	s := terminal(t)
	for _, name := range []string{"a", "b", "c"} {
		open(t, s, tmux.Window{Session: "p/b", Name: name})
	}
	if err := s.CloseWindow(t.Context(), "p/b", "b"); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(t.TempDir(), "log")
	open(t, s, tmux.Window{Session: "p/b", Name: "d", Log: log, Argv: []string{"sh", "-c", "echo this is d; exec cat"}})
	wait.Until(t, "the log is that of the new window", func() bool { return strings.Contains(read(t, log), "this is d") })
	if got, want := windows(t, s), []string{"p/b a dead=false", "p/b c dead=false", "p/b d dead=false"}; !slices.Equal(got, want) {
		t.Errorf("windows: %q, want %q", got, want)
	}
}

func TestTheLogHasTheFirstAndAllOutput(t *testing.T) {
	s := terminal(t)
	for i := range 5 {
		log := filepath.Join(t.TempDir(), "it's a #[log]; $HOME %H")
		open(t, s, tmux.Window{Session: fmt.Sprintf("p/%d", i), Name: "w", Log: log, Argv: []string{"sh", "-c", "seq 1 20000; exec cat"}})
		wait.Until(t, "the last line is in the log", func() bool { return strings.HasSuffix(read(t, log), "\n20000\r\n") })
		var want strings.Builder
		for n := 1; n <= 20000; n++ {
			fmt.Fprintf(&want, "%d\r\n", n)
		}
		if read(t, log) != want.String() {
			t.Error("the log differs from what was printed")
		}
		if info, err := os.Stat(log); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("mode of the log: %v, %v", info.Mode(), err)
		}
	}
}

func TestALargePasteArrivesByteForByte(t *testing.T) {
	s := terminal(t)
	dir := t.TempDir()
	log, got := filepath.Join(dir, "log"), filepath.Join(dir, "got")
	line := "#(touch x) #{pid} $HOME `id` 'quoted' \"double\" \\n %H ;;\t~ ünï 日本 🙂 C-c Enter [201~ -- \n"
	text := strings.Repeat(line, 100_000/len(line)+1)
	want := "\x1b[200~" + text + "\x1b[201~\r"
	open(t, s, tmux.Window{Session: "p/b", Name: "w", Log: log, Argv: []string{"sh", "-c",
		`stty raw -echo; printf '\033[?2004hready'; head -c "$1" >"$2.tmp"; mv "$2.tmp" "$2"`, "sh", fmt.Sprint(len(want)), got}})
	wait.Until(t, "the reader is ready", func() bool { return strings.Contains(read(t, log), "ready") })
	if err := s.PasteText(t.Context(), "p/b", "w", text); err != nil {
		t.Fatal(err)
	}
	if err := s.PressEnter(t.Context(), "p/b", "w"); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "all of it has been read", func() bool { return read(t, got) != "" })
	if read(t, got) != want {
		t.Error("what arrived differs from what was pasted")
	}
}

func TestAPasteIsNotBracketedForAProgramThatDidNotAsk(t *testing.T) {
	s := terminal(t)
	dir := t.TempDir()
	log, got := filepath.Join(dir, "log"), filepath.Join(dir, "got")
	open(t, s, tmux.Window{Session: "p/b", Name: "w", Log: log, Argv: []string{"sh", "-c",
		`stty raw -echo; printf ready; head -c 8 >"$1.tmp"; mv "$1.tmp" "$1"`, "sh", got}})
	wait.Until(t, "the reader is ready", func() bool { return strings.Contains(read(t, log), "ready") })
	if err := s.PasteText(t.Context(), "p/b", "w", "a\x1b[201~b"); err != nil {
		t.Fatal(err)
	}
	if err := s.PressEnter(t.Context(), "p/b", "w"); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "it has been read", func() bool { return read(t, got) != "" })
	if want := "a[201~b\r"; read(t, got) != want {
		t.Errorf("got %q, want %q", read(t, got), want)
	}
}

func TestARenamedSessionKeepsItsWindows(t *testing.T) {
	s := terminal(t)
	open(t, s, tmux.Window{Session: tmux.SessionName("p", "old.1"), Name: "w"})
	open(t, s, tmux.Window{Session: tmux.SessionName("p", "other"), Name: "w"})
	from, to := tmux.SessionName("p", "old.1"), tmux.SessionName("p", "new.#S")
	for range 2 { // the second time there is nothing left to do
		if err := s.RenameSession(t.Context(), from, to); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := windows(t, s), []string{to + " w dead=false", "p/other w dead=false"}; !slices.Equal(got, want) {
		t.Errorf("windows: %q, want %q", got, want)
	}
	if err := s.RenameSession(t.Context(), to, "p/other"); err == nil {
		t.Error("a session took the name of another")
	}
	if err := s.RenameSession(t.Context(), to, "a.b"); err == nil {
		t.Error("a name that is not safe was taken")
	}
}

func TestManyWindowsOpenConcurrently(t *testing.T) {
	s := terminal(t)
	dir := t.TempDir()
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			w := tmux.Window{Session: fmt.Sprintf("p/%d", i%2), Name: fmt.Sprint("w", i), Dir: dir, Argv: []string{"cat"}, Log: filepath.Join(dir, fmt.Sprint("log", i)), Recorder: recorder}
			if err := s.OpenWindow(context.WithoutCancel(t.Context()), w); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := windows(t, s); len(got) != 20 {
		t.Errorf("%d windows: %q", len(got), got)
	}
}

func TestOfManyThatOpenTheSameWindowOneSucceeds(t *testing.T) {
	s := terminal(t)
	dir := t.TempDir()
	for _, argv := range [][]string{{"true"}, {"cat"}} { // the second time in a dead window
		var all sync.WaitGroup
		var mu sync.Mutex
		opened := 0
		for range 8 {
			all.Go(func() {
				err := s.OpenWindow(context.WithoutCancel(t.Context()), tmux.Window{Session: "p/b", Name: "w", Dir: dir, Argv: argv})
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					opened++
				} else if !errors.Is(err, tmux.ErrOpen) {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if opened == 0 || argv[0] == "cat" && opened != 1 {
			t.Errorf("%v was opened %d times", argv, opened)
		}
		if got := windows(t, s); len(got) != 1 {
			t.Errorf("windows: %q", got)
		}
		wait.Until(t, "true ends", func() bool { return argv[0] == "cat" || windows(t, s)[0] == "p/b w dead=true" })
	}
}

func TestAfterTheServerWasKilledEverythingCanBeOpenedAgain(t *testing.T) {
	s := terminal(t)
	for range 5 {
		open(t, s, tmux.Window{Session: "p/b", Name: "w"})
		if got := windows(t, s); len(got) != 1 {
			t.Fatalf("windows: %q", got)
		}
		if err := s.KillServer(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := windows(t, s); len(got) != 0 {
			t.Fatalf("windows: %q", got)
		}
	}
	for range 5 { // the server ends with its last session
		open(t, s, tmux.Window{Session: "p/b", Name: "w"})
		if err := s.CloseSession(t.Context(), "p/b"); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTheProgramIsRunWithoutAShellAndWithTheGivenEnvironment(t *testing.T) {
	s := terminal(t)
	dir := t.TempDir()
	program := filepath.Join(dir, "a program; $(x)")
	if err := os.WriteFile(program, []byte("#!/bin/sh\nenv >\"$0.env\"\nexec cat\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	open(t, s, tmux.Window{Session: "p/b", Name: "w", Dir: dir, Argv: []string{program}, Width: 91, Height: 17})
	wait.Until(t, "the program has started", func() bool { return strings.Contains(read(t, program+".env"), "TERM=") })
	env := read(t, program+".env")
	if !strings.Contains(env, "TERM="+tmux.Terminal+"\n") || strings.Contains(env, "elsewhere") {
		t.Errorf("environment:\n%s", env)
	}
	for line := range strings.Lines(env) {
		name, _, _ := strings.Cut(line, "=")
		if name != "_" && os.Getenv(name) != "" && !slices.Contains([]string{"PATH", "HOME", "PWD", "TERM", "SHELL", "SHLVL", "TMUX", "TMUX_PANE", "TERM_PROGRAM", "OLDPWD", "TMUX_TMPDIR"}, name) {
			t.Errorf("%s came through", name)
		}
	}
}

func TestWhatCannotBeOpenedSaysWhy(t *testing.T) {
	s := terminal(t)
	dir := t.TempDir()
	for what, w := range map[string]tmux.Window{
		"a session name that is not safe": {Session: "a.b", Name: "w", Dir: dir, Argv: []string{"cat"}},
		"no session":                      {Name: "w", Dir: dir, Argv: []string{"cat"}},
		"no name":                         {Session: "p/b", Dir: dir, Argv: []string{"cat"}},
		"no program":                      {Session: "p/b", Name: "w", Dir: dir},
		"an empty program":                {Session: "p/b", Name: "w", Dir: dir, Argv: []string{""}},
		"no folder":                       {Session: "p/b", Name: "w", Dir: dir + "/missing", Argv: []string{"cat"}},
		"a log that cannot be":            {Session: "p/b", Name: "w", Dir: dir, Argv: []string{"cat"}, Log: dir + "/missing/log", Recorder: recorder},
		"a log without a full path":       {Session: "p/b", Name: "w", Dir: dir, Argv: []string{"cat"}, Log: "log", Recorder: recorder},
		"a log that nobody records":       {Session: "p/b", Name: "w", Dir: dir, Argv: []string{"cat"}, Log: dir + "/log"},
	} {
		if err := s.OpenWindow(t.Context(), w); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if got := windows(t, s); len(got) != 0 {
		t.Errorf("windows: %q", got)
	}
}

func TestAPersonAttachesToTheWindow(t *testing.T) {
	outer, s := terminal(t), terminalAt(t, func(dir string) string { return dir + "/socket" })
	session := tmux.SessionName("p", "b.1")
	open(t, s, tmux.Window{Session: session, Name: "1", Argv: []string{"sh", "-c", "echo this is one; exec cat"}})
	open(t, s, tmux.Window{Session: session, Name: "2", Argv: []string{"sh", "-c", "echo this is two; exec cat"}})
	attach := s.AttachArgv(session, "2")
	// The person's own tmux stands for their terminal.
	open(t, outer, tmux.Window{Session: "me/me", Name: "me", Argv: append([]string{"env", "-u", "TMUX"}, attach...)})
	wait.Until(t, "the second window is seen", func() bool {
		shown, err := outer.CaptureText(t.Context(), "me/me", "me")
		return err == nil && strings.Contains(shown, "this is two") && !strings.Contains(shown, "this is one")
	})
}

func TestAMessageReachesTheProgramWhateverAPersonDoesInTheWindow(t *testing.T) {
	var socket string
	s := terminalAt(t, func(dir string) string { socket = dir + "/socket"; return socket })
	person := func(args ...string) {
		t.Helper()
		out, err := exec.Command("tmux", append([]string{"-S", socket}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("tmux %v: %v: %s", args, err, out)
		}
	}
	log := filepath.Join(t.TempDir(), "log")
	open(t, s, tmux.Window{Session: "p/b", Name: "w", Log: log, Argv: []string{"sh", "-c", `while read line; do echo "got $line"; done`}})
	say := func(text string) {
		t.Helper()
		if err := errors.Join(s.PasteText(t.Context(), "p/b", "w", text), s.PressEnter(t.Context(), "p/b", "w")); err != nil {
			t.Fatal(err)
		}
		wait.Until(t, text+" arrives", func() bool { return strings.Contains(read(t, log), "got "+text+"\r\n") })
	}
	person("copy-mode", "-t", "=p/b:")
	say("while the history is read")
	person("split-window", "-t", "=p/b:", "cat")
	say("while another pane is active")
	person("new-window", "-t", "=p/b:", "-n", "w", "cat")
	say("while another window has the name")
	person("rename-window", "-t", "=p/b:0", "mine")
	say("after the window was renamed")
	if got, want := windows(t, s), []string{"p/b w dead=false"}; !slices.Equal(got, want) {
		t.Errorf("windows: %q, want %q", got, want)
	}
	open(t, s, tmux.Window{Session: "p/b", Name: "v", Log: log, Argv: []string{"sh", "-c", "echo second; exec cat"}})
	wait.Until(t, "the second window's output arrives", func() bool { return strings.Contains(read(t, log), "second\r\n") })
}
