package shim_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"orange/internal/adapter/shim"
	"orange/internal/core/agent"
	"orange/internal/wait"
)

// daemon is a part of a script that leaves a process behind which has a session of its
// own and no parent among the agent's processes, and writes its pid.
const daemon = `( setsid sh -c 'trap "" HUP; echo $$ >$DIR/daemon; exec sleep 1000' & ) ; `

func needsLinux(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("only here can every process be found")
	}
}

func TestADaemonDoesNotOutliveItsAgent(t *testing.T) {
	needsLinux(t)
	s := newEnv(t)
	s.start(s.orders(daemon + `while ! test -s $DIR/daemon; do sleep 0.01; done; exit 5`))
	exit := receive(t, s.watch())
	if exit.Code != 5 || exit.Reason != "" {
		t.Errorf("exit: %+v", exit)
	}
	if pid := s.pid("daemon"); !gone(pid) {
		t.Errorf("the daemon %d lives", pid)
	}
}

func TestADaemonThatIgnoresSIGTERMAndForksIsKilled(t *testing.T) {
	needsLinux(t)
	s := newEnv(t)
	s.start(s.orders(`( setsid sh -c 'trap "" TERM HUP; echo $$ >$DIR/daemon; while :; do sleep 0.01; done' & ) ; while ! test -s $DIR/daemon; do sleep 0.01; done; exit 6`))
	exit := receive(t, s.watch())
	if exit.Code != 6 || !gone(s.pid("daemon")) {
		t.Errorf("exit: %+v; daemon gone: %v", exit, gone(s.pid("daemon")))
	}
}

func TestTheServerAndTheShimsOfTheDataFolderAreNotTheAgents(t *testing.T) {
	needsLinux(t)
	lingers := self(t)[0] + " linger"
	for _, who := range []string{"the server", "a shim", "tmux"} {
		t.Run(who, func(t *testing.T) {
			s := newEnv(t)
			var script string
			switch who {
			case "the server":
				script = `( env -u ` + shim.KeyVariable + ` setsid ` + lingers + ` $DIR/server & ) ; while ! test -s $DIR/server; do sleep 0.01; done; cp $DIR/server $DIR/daemon; exit 4`
			case "a shim":
				other := filepath.Join(s.dir, "attempts", "t", "2")
				if err := shim.Folder(other).PrepareStart(); err != nil {
					t.Fatal(err)
				}
				script = `( ` + shim.KeyVariable + `=x setsid ` + strings.Join(self(t), " ") + " " + other + ` & ) ; while ! test -s ` + other + `/claim.json; do sleep 0.01; done;
					sed 's/.*"pid":\([0-9]*\).*/\1/' ` + other + `/claim.json >$DIR/daemon; exit 4`
			case "tmux":
				script = `env -u ` + shim.KeyVariable + ` tmux -S $DIR/tmux.sock -f /dev/null new-session -d 'sleep 1000'; tmux -S $DIR/tmux.sock display-message -p '#{pid}' >$DIR/daemon; exit 4`
			}
			s.start(s.orders(script))
			exit := receive(t, s.watch())
			pid := s.pid("daemon")
			if exit.Code != 4 || gone(pid) {
				t.Errorf("exit: %+v; gone: %v", exit, gone(pid))
			}
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestWhatOnlyCallsItselfAPartOfOrangeEndsWithTheAgent(t *testing.T) {
	needsLinux(t)
	daemon := func(command string) string {
		return `( ` + command + ` & ) ; while ! test -s $DIR/daemon; do sleep 0.01; done; exit 4`
	}
	lingers := self(t)[0] + " linger $DIR/daemon"
	cases := map[string]string{
		"a shell with the key of a server":        daemon(shim.KeyVariable + `=server setsid sh -c 'trap "" HUP; echo $$ >$DIR/daemon; exec sleep 1000'`),
		"this program with the key of a server":   daemon(shim.KeyVariable + "=server setsid " + lingers),
		"this program with another key":           daemon(shim.KeyVariable + "=other setsid " + lingers),
		"this program without a key":              daemon("env -u " + shim.KeyVariable + " setsid " + lingers),
		"a binary called tmux":                    "cp $(command -v sleep) $DIR/tmux; " + daemon(shim.KeyVariable+`=server setsid sh -c 'echo $$ >$DIR/daemon; exec $DIR/tmux 1000'`),
		"a shim that no record names":             "cp $(command -v sh) $DIR/attend; mkdir -p $DIR/attempts/t/2; " + daemon(shim.KeyVariable+`=other setsid $DIR/attend -c 'echo $$ >$DIR/daemon; sleep 1000; :' $DIR/attempts/t/2`),
		"what takes the place of the server":      `( setsid ` + self(t)[0] + ` linger $DIR/server & ) ; while ! test -s $DIR/server; do sleep 0.01; done; cp $DIR/server $DIR/daemon; exit 4`,
		"a tmux at the socket of the data folder": `tmux -S $DIR/tmux.sock -f /dev/null new-session -d 'sleep 1000'; tmux -S $DIR/tmux.sock display-message -p '#{pid}' >$DIR/daemon; exit 4`,
	}
	for what, script := range cases {
		t.Run(what, func(t *testing.T) {
			s := newEnv(t)
			s.start(s.orders(script))
			exit := receive(t, s.watch())
			if pid := s.pid("daemon"); exit.Code != 4 || !gone(pid) {
				t.Errorf("exit: %+v; gone: %v", exit, gone(pid))
				syscall.Kill(pid, syscall.SIGKILL) //nolint:errcheck // it may be gone by now
			}
		})
	}
}

// The tmux of an agent is found by its socket as well, whatever became of its shim and
// of its mark. What runs in it is ended too when it outlives its tmux.
func TestTheTmuxOfAnAgentIsFoundByItsSocket(t *testing.T) {
	for what, trap := range map[string]string{
		"its window ends with it":     "",
		"its window ignores that end": `trap "" HUP TERM; `,
	} {
		t.Run(what, func(t *testing.T) { endTmuxOfAgent(t, trap) })
	}
}

func endTmuxOfAgent(t *testing.T, trap string) {
	s := newEnv(t)
	own, err := os.MkdirTemp("", "at") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(own)
	o := s.orders(`env -u ` + shim.KeyVariable + ` tmux -f /dev/null new-session -d '` + trap + `echo $$ >$DIR/pane; exec sleep 1000'; tmux display-message -p '#{pid}' >$DIR/daemon; exec sleep 1000`)
	o.Env = append(o.Env, shim.TmuxVariable+"="+own)
	started := s.start(o)
	server, pane := s.pid("daemon"), s.pid("pane")
	if err := syscall.Kill(started.Shim.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if _, err := s.EndAttempt(t.Context(), s.folder); err != nil || !gone(server) || !gone(pane) {
		t.Errorf("%v; gone: %v, %v", err, gone(server), gone(pane))
		syscall.Kill(pane, syscall.SIGKILL) //nolint:errcheck // it may be gone by now
	}
}

func TestEndEndsEverything(t *testing.T) {
	cases := []struct {
		what, script string
		code         int
	}{
		{"an agent that ends when it is asked", `echo $$ >$DIR/agent; exec sleep 1000`, 143},
		{"an agent that cleans up", `trap 'echo clean >$DIR/clean; exit 9' TERM; echo $$ >$DIR/agent; while :; do sleep 0.01; done`, 9},
		{"an agent that ignores SIGTERM", `trap "" TERM HUP INT; echo $$ >$DIR/agent; while :; do sleep 0.01; done`, 137},
		{"an agent that is stopped", `echo $$ >$DIR/agent; kill -STOP $$; exec sleep 1000`, 143},
		{"an agent with children", `sleep 1000 & sleep 1000 & echo $$ >$DIR/agent; wait`, 143},
	}
	for _, c := range cases {
		t.Run(c.what, func(t *testing.T) {
			s := newEnv(t)
			s.start(s.orders(c.script))
			agent := s.pid("agent")
			exits := s.watch()
			for range 2 {
				exit, err := s.EndAttempt(t.Context(), s.folder)
				if err != nil || exit.Code != c.code || exit.Reason != "it was told to end" {
					t.Errorf("End: %+v, %v", exit, err)
				}
			}
			if !gone(agent) || carried(s.key) != 0 {
				t.Errorf("the agent is gone: %v; with its key: %d", gone(agent), carried(s.key))
			}
			if exit := receive(t, exits); exit.Code != c.code {
				t.Errorf("exit: %+v", exit)
			}
			if !gone(s.state().Started.Shim.PID) {
				t.Error("the shim is still there")
			}
		})
	}
}

// carried counts the living processes whose environment holds the key.
func carried(key string) (n int) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		env, err := os.ReadFile(file)
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err == nil && slices.Contains(strings.Split(string(env), "\x00"), shim.KeyVariable+"="+key) && !gone(pid) {
			n++
		}
	}
	return n
}

func TestAStoppedShimDoesNotDelayTheEnd(t *testing.T) {
	s := newEnv(t)
	started := s.start(s.orders("exec sleep 1000"))
	if err := syscall.Kill(started.Shim.PID, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	exit, err := s.EndAttempt(t.Context(), s.folder)
	if err != nil || exit.Code != 143 || !gone(started.Child.PID) {
		t.Errorf("End: %+v, %v", exit, err)
	}
}

func TestAKilledAgentIsSeen(t *testing.T) {
	s := newEnv(t)
	started := s.start(s.orders("exec sleep 1000"))
	exits := s.watch()
	if err := syscall.Kill(started.Child.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if exit := receive(t, exits); exit.Code != 137 || exit.Signal != "SIGKILL" || exit.Reason != "" {
		t.Errorf("exit: %+v", exit)
	}
}

func TestWhatAKilledShimLeavesIsEnded(t *testing.T) {
	needsLinux(t)
	for _, who := range []string{"watched", "ended", "started again"} {
		t.Run(who, func(t *testing.T) {
			s := newEnv(t)
			o := s.orders(daemon + `trap "" TERM; echo $$ >$DIR/agent; while :; do sleep 0.01; done`)
			started := s.start(o)
			worker, left := s.pid("agent"), s.pid("daemon")
			var exits, second <-chan agent.Exit
			if who == "watched" {
				exits, second = s.watch(), s.watch()
			}
			if err := syscall.Kill(started.Shim.PID, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			var exit agent.Exit
			switch who {
			case "watched":
				exit = receive(t, exits)
			case "ended":
				var err error
				if exit, err = s.EndAttempt(t.Context(), s.folder); err != nil {
					t.Fatal(err)
				}
			case "started again":
				wait.Until(t, "the shim is gone", func() bool { return s.state().Phase == shim.Lost })
				if again := s.start(o); again.Child != started.Child {
					t.Errorf("started again: %+v", again)
				}
				exit = receive(t, s.watch())
			}
			if exit.Code != -1 || exit.Reason != "the shim was lost" {
				t.Errorf("exit: %+v", exit)
			}
			if !gone(worker) || !gone(left) || carried(s.key) != 0 {
				t.Errorf("gone: agent %v, daemon %v; with its key: %d", gone(worker), gone(left), carried(s.key))
			}
			if state := s.state(); state.Phase != shim.Over || !state.Exit.At.Equal(exit.At) {
				t.Errorf("state: %+v", state)
			}
			s.Close() // waits for everything that could report
			if len(exits)+len(second) != 0 {
				t.Error("the exit was reported more than once")
			}
		})
	}
}

func TestAnotherSupervisorTakesOver(t *testing.T) {
	s := newEnv(t)
	s.start(s.orders(`while ! test -e $DIR/go; do sleep 0.01; done; exit 8`))
	exits := s.watch()
	s.Close()
	next := &env{Supervisor: shim.New(self(t), dataFolder(s.dir)), t: t, folder: s.folder, dir: s.dir}
	defer next.Close()
	if state := next.state(); state.Phase != shim.Running {
		t.Fatalf("state: %+v", state)
	}
	taken := next.watch()
	if err := os.WriteFile(s.dir+"/go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if exit := receive(t, taken); exit.Code != 8 {
		t.Errorf("exit: %+v", exit)
	}
	if len(exits) != 0 {
		t.Error("the closed supervisor reported the exit")
	}
	if err := s.WatchAttempt(s.folder, func(agent.Exit) {}); err == nil {
		t.Error("a closed supervisor watches")
	}
}

func TestAnEndWhileNobodyWatchedIsReportedLater(t *testing.T) {
	s := newEnv(t)
	s.start(s.orders("exit 2"))
	wait.Until(t, "it is over", func() bool { return s.state().Phase == shim.Over })
	if exit := receive(t, s.watch()); exit.Code != 2 {
		t.Errorf("exit: %+v", exit)
	}
}

func TestEndBeforeStart(t *testing.T) {
	cases := map[string]func(s *env) error{
		"no folder":  func(*env) error { return nil },
		"a prepared": func(s *env) error { return s.folder.PrepareStart() },
		"a failed start": func(s *env) error {
			o := s.orders("")
			o.Argv = []string{"no-such-program"}
			if _, err := s.StartAttempt(s.t.Context(), s.folder, o, s.PlainLaunch()); err == nil {
				return fmt.Errorf("it started")
			}
			return nil
		},
	}
	for what, before := range cases {
		t.Run(what, func(t *testing.T) {
			s := newEnv(t)
			if err := before(s); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if exit, err := s.EndAttempt(t.Context(), s.folder); err != nil || exit.Reason == "" {
					t.Fatalf("End: %+v, %v", exit, err)
				}
			}
			launched := false
			launch := func(ctx context.Context, argv []string) error { launched = true; return s.PlainLaunch()(ctx, argv) }
			if _, err := s.StartAttempt(t.Context(), s.folder, s.orders("echo x >$DIR/ran"), launch); err == nil || launched {
				t.Errorf("Start after End: %v, launched: %v", err, launched)
			}
			// A shim that was launched before and comes late leaves.
			argv := append(self(t), string(s.folder))
			if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err == nil || !strings.Contains(string(out), "ended") {
				t.Errorf("a late shim: %v, %s", err, out)
			}
			if state := s.state(); state.Phase != shim.Over || state.Started.Child.PID != 0 {
				t.Errorf("state: %+v", state)
			}
			if _, err := os.Stat(s.dir + "/ran"); err == nil {
				t.Error("the agent ran")
			}
		})
	}
}

func TestEndWhileTheShimWaitsForOrders(t *testing.T) {
	s := newEnv(t)
	if err := s.folder.PrepareStart(); err != nil {
		t.Fatal(err)
	}
	if err := s.PlainLaunch()(t.Context(), append(self(t), string(s.folder))); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "the shim is there", func() bool { return s.state().Phase == shim.Starting })
	exit, err := s.EndAttempt(t.Context(), s.folder)
	if err != nil || exit.Reason != "it was ended before it began" {
		t.Errorf("End: %+v, %v", exit, err)
	}
	if _, err := s.StartAttempt(t.Context(), s.folder, s.orders("exit 0"), s.PlainLaunch()); err == nil {
		t.Error("it was started after its end")
	}
}

func TestAStartThatAnotherServerBeganIsFinished(t *testing.T) {
	s := newEnv(t)
	if err := s.folder.PrepareStart(); err != nil {
		t.Fatal(err)
	}
	if err := s.PlainLaunch()(t.Context(), append(self(t), string(s.folder))); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "the shim is there", func() bool { return s.state().Phase == shim.Starting })
	// A part of the orders, as a server leaves them that dies while it writes.
	pipe, err := os.OpenFile(string(s.folder)+"/orders", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pipe.WriteString(`{"Argv":["`); err != nil {
		t.Fatal(err)
	}
	if err := pipe.Close(); err != nil {
		t.Fatal(err)
	}
	launch := func(context.Context, []string) error { t.Error("a second shim was launched"); return nil }
	if _, err := s.StartAttempt(t.Context(), s.folder, s.orders("exit 6"), launch); err != nil {
		t.Fatal(err)
	}
	if exit := receive(t, s.watch()); exit.Code != 6 {
		t.Errorf("exit: %+v", exit)
	}
}

func TestAShimWithoutOrdersExits(t *testing.T) {
	s := newEnv(t)
	if err := s.folder.PrepareStart(); err != nil {
		t.Fatal(err)
	}
	argv := []string{self(t)[0], "attend-briefly", string(s.folder)}
	if err := exec.Command(argv[0], argv[1:]...).Run(); err == nil {
		t.Error("the shim reports success")
	}
	if state := s.state(); state.Phase != shim.Over || !strings.Contains(state.Exit.Reason, "no orders came") {
		t.Errorf("state: %+v", state)
	}
	s.start(s.orders("exit 1")) // and the attempt may be started nevertheless
	if exit := receive(t, s.watch()); exit.Code != 1 || exit.Reason != "" {
		t.Errorf("exit: %+v", exit)
	}
}

func TestAStartIsGivenUpWithoutAShim(t *testing.T) {
	s := newEnv(t)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := s.StartAttempt(ctx, s.folder, s.orders("exit 0"), func(context.Context, []string) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "did not start in time") {
		t.Errorf("Start: %v", err)
	}
}

func TestNothingBelongsToAnAttemptOfAnotherBoot(t *testing.T) {
	s := newEnv(t)
	bystander := sleeper(t)
	s.pretend(bystander, "another-boot")
	state := s.state()
	if state.Phase != shim.Over || state.Exit.Reason != "the machine was restarted" || state.Exit.Mass != shim.MassReboot {
		t.Errorf("state: %+v", state)
	}
	exit := receive(t, s.watch())
	if end, err := s.EndAttempt(t.Context(), s.folder); err != nil || exit.Code != -1 || !end.At.Equal(exit.At) {
		t.Errorf("exit: %+v; End: %+v, %v", exit, end, err)
	}
	if gone(bystander.PID) {
		t.Error("a process of this boot was ended")
	}
}

func TestAPidThatWasGivenAgainIsLeftAlone(t *testing.T) {
	for _, how := range []string{"watched", "ended"} {
		t.Run(how, func(t *testing.T) {
			s := newEnv(t)
			bystander := sleeper(t)
			wrong := shim.Process{PID: bystander.PID, Start: bystander.Start - 1}
			s.pretend(wrong, shim.BootID())
			if state := s.state(); state.Phase != shim.Lost {
				t.Errorf("state: %+v", state)
			}
			if how == "watched" {
				receive(t, s.watch())
			} else if _, err := s.EndAttempt(t.Context(), s.folder); err != nil {
				t.Fatal(err)
			}
			if gone(bystander.PID) {
				t.Error("the wrong process was ended")
			}
			if state := s.state(); state.Phase != shim.Over {
				t.Errorf("state: %+v", state)
			}
		})
	}
}

// sleeper returns a process, leader of its group, that has nothing to do with any attempt.
func sleeper(t *testing.T) shim.Process {
	t.Helper()
	s := newEnv(t)
	return s.start(s.orders("exec sleep 1000")).Child
}

// pretend writes records that name a process as shim and as agent.
func (s *env) pretend(p shim.Process, boot string) {
	s.t.Helper()
	if err := s.folder.PrepareStart(); err != nil {
		s.t.Fatal(err)
	}
	text, err := json.Marshal(shim.Started{BootID: boot, Shim: p, Child: p, PGID: p.PID, At: time.Now()})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, name := range []string{"claim.json", "started.json"} {
		if err := os.WriteFile(filepath.Join(string(s.folder), name), text, 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
}

func TestWhoIsWho(t *testing.T) {
	s := newEnv(t)
	started := s.start(s.orders(`sleep 1000 & echo $! >$DIR/grandchild; wait`))
	grandchild := s.pid("grandchild")
	line, whole := shim.Ancestry(grandchild)
	if len(line) < 4 || line[0] != grandchild || line[1] != started.Child.PID || line[2] != started.Shim.PID || line[3] != os.Getpid() {
		t.Errorf("ancestry of %d: %v, started %+v", grandchild, line, started)
	}
	if !whole {
		t.Error("the line of ancestors is not whole")
	}
	if line, whole := shim.Ancestry(1 << 30); line != nil || whole {
		t.Errorf("ancestry of nobody: %v", line)
	}
}

func TestTheOtherEndOfASocket(t *testing.T) {
	dir, err := os.MkdirTemp("", "at")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	l, err := net.Listen("unix", dir+"/s")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("unix", dir+"/s")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	a, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if pid, ok := shim.PeerPID(a); !ok || pid != os.Getpid() {
		t.Errorf("PeerPID = %d, %v, want %d", pid, ok, os.Getpid())
	}
	one, two := net.Pipe()
	defer one.Close()
	defer two.Close()
	if pid, ok := shim.PeerPID(one); ok {
		t.Errorf("PeerPID of no socket = %d", pid)
	}
}

func TestTheServerIsWokenIfItDoesNotAnswer(t *testing.T) {
	dir, err := os.MkdirTemp("", "at")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for _, running := range []bool{false, true} {
		t.Run(fmt.Sprint("running: ", running), func(t *testing.T) {
			s := newEnv(t)
			socket := filepath.Join(dir, fmt.Sprint(running))
			if running {
				l, err := net.Listen("unix", socket)
				if err != nil {
					t.Fatal(err)
				}
				defer l.Close()
			}
			o := s.orders("exit 0")
			o.Socket = socket
			o.Env = append(o.Env, "ORANGE_TASK=1", "ORANGE_ROLE=worker", "ORANGE_ATTEMPT=2", "KEEP=1")
			o.Wake = []string{"sh", "-c", `env >$DIR/woken.tmp; cat /proc/$$/stat >>$DIR/woken.tmp; mv $DIR/woken.tmp $DIR/woken`}
			s.start(o)
			receive(t, s.watch())
			if running {
				if _, err := s.EndAttempt(t.Context(), s.folder); err != nil { // the shim has left
					t.Fatal(err)
				}
				if _, err := os.Stat(s.dir + "/woken"); err == nil {
					t.Error("a server that answers was woken")
				}
				return
			}
			wait.Until(t, "the wake command has run", func() bool { _, err := os.Stat(s.dir + "/woken"); return err == nil })
			text, err := os.ReadFile(s.dir + "/woken")
			if err != nil || strings.Contains(string(text), "ORANGE_") || !strings.Contains(string(text), "KEEP=1\n") {
				t.Errorf("environment: %s, %v", text, err)
			}
		})
	}
}

// A shim whose data folder was moved away starts no server, which would begin an empty one at the old place.
func TestAShimWhoseFolderWasMovedWakesNoServer(t *testing.T) {
	s := newEnv(t)
	o := s.orders("read x <$DIR/go")
	if err := syscall.Mkfifo(s.dir+"/go", 0o600); err != nil {
		t.Fatal(err)
	}
	o.Wake, o.Socket = []string{"true"}, s.dir+"/socket"
	l, err := net.Listen("unix", o.Socket) // a shim that would wake a server asks first whether one answers
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	s.start(o)
	exits := s.watch()
	at := s.state().Started.Shim
	if err := os.Rename(string(s.folder), string(s.folder)+".away"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.dir+"/go", []byte("x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	receive(t, exits)
	wait.Until(t, "the shim has left", func() bool { return syscall.Kill(at.PID, 0) != nil })
	own, err := net.Dial("unix", o.Socket)
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	if _, err := own.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	first, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	if n, err := first.Read(make([]byte, 1)); n != 1 {
		t.Errorf("the shim asked for a server: %v", err)
	}
	if _, err := os.Stat(string(s.folder)); err == nil {
		t.Error("the folder was made again")
	}
}

func TestAnAttemptWhoseRecordsAreRemovedIsOver(t *testing.T) {
	s := newEnv(t)
	s.start(s.orders("exec sleep 1000"))
	exits := s.watch()
	started := s.state().Started
	if err := os.RemoveAll(string(s.folder)); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(started.Child.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if exit := receive(t, exits); exit.Code == 0 {
		t.Errorf("%+v", exit)
	}
}
