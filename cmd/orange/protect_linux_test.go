package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"orange/internal/adapter/lock"
	"orange/internal/adapter/shim"
	"orange/internal/testneeds"
	"orange/internal/wire"
)

// nobody is an ordinary user.
const nobody = 65534

// TestForAnOrdinaryUser repeats tests as an ordinary user, whom the kernel keeps from looking
// into protected processes.
func TestForAnOrdinaryUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("these tests run as an ordinary user already")
	}
	testneeds.Server(t)
	t.Parallel()
	program, err := built()
	check(t, err)
	self, err := os.Executable()
	check(t, err)
	dir, err := os.MkdirTemp("", "u") // a socket's path may have 108 bytes
	check(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) }) //nolint:errcheck // a temporary folder
	for name, from := range map[string]string{"orange": program, "tests": self} {
		copyProgram(t, from, filepath.Join(dir, name))
	}
	check(t, os.Chown(dir, nobody, nobody))
	tests := []string{
		"TestAnAgentSeesNothingOfTheServerAndItsShim", "TestTmuxAndShimsHaveNoKeys",
		"TestAServerStartedByAnAgentOutlivesIt", "TestAKilledShimLeavesNothingBehind", "TestADaemonDoesNotOutliveItsAttempt",
		"TestTheEndOfOneAttemptIsNotTheEndOfAnother", "TestAServerAdoptsTheLiving", "TestAgentsContinueWithoutTheServer",
		"TestAProgramOfTheServerIsNobody", "TestWhatRunsInTheTmuxOfOrangeIsNobody", "TestTheWebPageIsForPeople", "TestWhatAnAgentHasAHandInSeesNoSecret",
	}
	for _, run := range [][]string{tests, {"TestAPersonWhoseProgramHidesMayUseThePage"}} { // this one hides its whole process
		cmd := exec.Command(filepath.Join(dir, "tests"), "-test.v", "-test.run", "^("+strings.Join(run, "|")+")$")
		cmd.Dir = dir
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir, "LANG=C.UTF-8", programVariable + "=" + filepath.Join(dir, "orange")}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		out, err := cmd.CombinedOutput()
		for _, name := range run {
			if !strings.Contains(string(out), "--- PASS: "+name+" ") {
				t.Errorf("%s did not pass", name)
			}
		}
		if err != nil || t.Failed() {
			t.Errorf("%v\n%s", err, out)
		}
	}
}

// copyProgram lets another process copy: a program that this one has open for writing would be open in processes that it
// starts meanwhile, too, and could not be started.
func copyProgram(t *testing.T, from, to string) {
	t.Helper()
	if out, err := exec.Command("cp", from, to).CombinedOutput(); err != nil {
		t.Fatalf("cp: %v: %s", err, out)
	}
}

// needsOrdinaryUser skips a test that the kernel decides otherwise for root.
func needsOrdinaryUser(t *testing.T) {
	t.Helper()
	if os.Getuid() == 0 {
		t.Skip("root may look into every process: TestForAnOrdinaryUser repeats this test")
	}
}

func TestAnAgentSeesNothingOfTheServerAndItsShim(t *testing.T) {
	t.Parallel()
	needsOrdinaryUser(t)
	both(t, func(t *testing.T, s *env) {
		server := lock.ReadHolder(s.home).PID
		look := s.write("look.sh", fmt.Sprintf(`for pid in $PPID %d; do
	for file in environ maps mem fd/0 cwd exe; do
		if cat /proc/$pid/$file >/dev/null 2>&1 || readlink /proc/$pid/$file >/dev/null; then echo "$pid shows $file"; fi
	done
	grep -q . /proc/$pid/stat || echo "the stat of $pid cannot be read"
done >$1.tmp
tr '\0' '\n' </proc/$$/environ | grep -c ORANGE_TOKEN >$2
{ ulimit -Sc; ulimit -Hc; } >$3
mv $1.tmp $1
exec sleep 1000
`, server))
		shown, own, core := filepath.Join(s.dir, "shown"), filepath.Join(s.dir, "own"), filepath.Join(s.dir, "core")
		id := s.createWith("feature", "--harness", "command:sh "+strings.Join([]string{look, shown, own, core}, " "))
		started := s.alive(id, 1)
		s.eventually("the agent has looked", func() bool { return s.has("shown") })
		if got := s.text("shown"); got != "" {
			t.Errorf("server %d, shim %d:\n%s", server, started.Shim.PID, got)
		}
		if got := s.text("own"); got != "1\n" {
			t.Errorf("the agent cannot read its own environment: %q", got)
		}
		var limit unix.Rlimit
		check(t, unix.Getrlimit(unix.RLIMIT_CORE, &limit))
		hard := fmt.Sprint(limit.Max / 512)
		if limit.Max == unix.RLIM_INFINITY {
			hard = "unlimited"
		}
		if got := s.text("core"); got != "0\n"+hard+"\n" {
			t.Errorf("limits of core files: %q, want 0 and %s", got, hard)
		}
		for _, pid := range []int{server, started.Shim.PID} {
			if err := unix.PtraceAttach(pid); !errors.Is(err, unix.EPERM) {
				t.Errorf("process %d can be traced: %v", pid, err)
			}
		}
	})
}

func TestTmuxAndShimsHaveNoKeys(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "tmux")
	s.orange("stop")
	const key = "planted-key-of-a-provider"
	for _, name := range []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY", "HTTPS_PROXY", "GITHUB_TOKEN", "SSH_AUTH_SOCK", "MY_OWN_KEY"} {
		s.environ = append(s.environ, name+"="+key)
	}
	s.write("config/orange/config.json", `{"sessions":"tmux","agent_env":["MY_OWN_KEY"]}`)
	id := s.createWith("feature", "--harness", `command:sh -c 'env >"$ORANGE_PROMPT_FILE.tmp"; mv "$ORANGE_PROMPT_FILE.tmp" "$ORANGE_PROMPT_FILE.env"; exec sleep 1000'`)
	started := s.alive(id, 1)
	agents := filepath.Join(string(s.folder(id, 1)), "prompt.md.env")
	s.eventually("the agent runs", func() bool { _, err := os.Stat(agents); return err == nil })
	env, err := os.ReadFile(agents)
	check(t, err)
	for _, name := range []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "MY_OWN_KEY"} {
		if !strings.Contains(string(env), name+"="+key+"\n") {
			t.Errorf("the agent does not have %s", name)
		}
	}
	// The environment that tmux was started with, and the one that it gives to windows.
	tmux := shim.ListenerPID(s.cfg.Terminal)
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", tmux))
	check(t, err)
	if bytes := string(text); strings.Contains(bytes, key) || !strings.Contains(bytes, "HOME="+s.dir) || !strings.Contains(bytes, "PATH=") {
		t.Errorf("tmux: %q", bytes)
	}
	given, err := s.tmux("show-environment", "-g")
	check(t, err)
	if strings.Contains(given, key) || !strings.Contains(given, "HOME="+s.dir) {
		t.Errorf("tmux gives to windows:\n%s", given)
	}
	text, err = os.ReadFile(fmt.Sprintf("/proc/%d/environ", started.Shim.PID))
	if os.Getuid() == 0 {
		check(t, err)
	} else if !errors.Is(err, fs.ErrPermission) {
		t.Errorf("the environment of the shim can be read: %v", err)
	}
	if strings.Contains(string(text), key) || os.Getuid() == 0 && !strings.Contains(string(text), shim.KeyVariable+"=") {
		t.Errorf("the shim: %q", text)
	}
	// A shell that a person opens there finds its programs.
	found := filepath.Join(s.dir, "found")
	if out, err := s.tmux("new-session", "-d", "-s", "mine", "sh", "-c", "command -v git >"+found+".tmp; mv "+found+".tmp "+found); err != nil {
		t.Fatal(out, err)
	}
	s.eventually("the shell has looked", func() bool { return s.has("found") })
	if s.text("found") == "" {
		t.Error("a shell in tmux does not find git")
	}
}

// TestAPersonWhoseProgramHidesMayUseThePage asks from a process that does not show its
// connections, as sshd does which forwards a port.
func TestAPersonWhoseProgramHidesMayUseThePage(t *testing.T) {
	t.Parallel()
	needsOrdinaryUser(t)
	s := openEnv(t, "headless")
	s.alive(s.create("feature", "worker:\n  - idle:\n"), 1)
	var page wire.PageToken
	check(t, json.Unmarshal([]byte(s.orange("web", "--token", "--json")), &page))
	check(t, unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0))
	defer unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0) //nolint:errcheck // this process ends soon
	for _, do := range []string{"pause", "resume"} {
		s.eventually(do+" is allowed", func() bool { // while other programs that hide start, the page cannot tell, and refuses
			status, _, err := post(page.URL+"api/v1/"+do, page.Token)
			check(t, err)
			return status == http.StatusOK
		})
	}
}

// TestEndlessOutputIsBounded has an agent print more than is kept, and then its result.
func TestEndlessOutputIsBounded(t *testing.T) {
	t.Parallel()
	for _, sessions := range []string{"tmux", "headless"} {
		t.Run(sessions, func(t *testing.T) {
			s := openEnv(t, sessions)
			const size = 60 << 20
			script := s.write("print.sh", fmt.Sprintf(`echo "the beginning"
head -c %d /dev/zero | tr '\0' 'x' | fold -w 99
echo "the end"
touch %s/printed
exec sleep 1000
`, size, s.dir))
			id := s.createWith("feature", "--harness", "command:sh "+script)
			dir := string(s.folder(id, 1))
			most := int64(0)
			onDisk := func() (all int64) {
				files, err := filepath.Glob(filepath.Join(dir, "output.log*"))
				check(t, err)
				for _, f := range files {
					if info, err := os.Stat(f); err == nil {
						all += info.Size()
					}
				}
				return all
			}
			s.eventually("all is printed", func() bool {
				most = max(most, onDisk())
				return s.has("printed")
			})
			var log string
			s.eventually("all is in the log", func() bool {
				most = max(most, onDisk())
				log = s.orange("task", "log", string(id), "-n", "2")
				return strings.HasSuffix(log, "the end\n")
			})
			if most > 40<<20 || most < 10<<20 {
				t.Errorf("%d bytes were on disk", most)
			}
			whole := strings.ReplaceAll(s.orange("task", "log", string(id), "--raw"), "\r", "")
			if lines := strings.Split(whole, "\n"); !strings.Contains(lines[0], "the beginning") || !slices.ContainsFunc(lines, func(l string) bool {
				return strings.HasPrefix(l, "... ") && strings.HasSuffix(l, " bytes of output were left out ...")
			}) || !strings.HasSuffix(whole, "the end\n") {
				t.Errorf("%.100q ... %q", whole, whole[max(len(whole)-100, 0):])
			}
			if seen := s.orange("task", "log", string(id), "-n", "3"); strings.Count(seen, "\n") != 3 {
				t.Errorf("the last three lines: %q", seen)
			}
		})
	}
}
