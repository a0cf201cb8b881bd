package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/adapter/lock"
	"orange/internal/core/task"
)

// previousVariable names a program of an earlier release, such as one that was built from an
// earlier commit. Without it, the earlier release is this source under another version.
const previousVariable = "ORANGE_TEST_PREVIOUS"

// buildVersion builds this source under a version.
func buildVersion(t *testing.T, version, file string) {
	t.Helper()
	out, err := exec.Command("go", "build", "-ldflags", "-X main.version="+version, "-o", file, ".").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// installPrevious makes an earlier release the installed program of the test, with a server.
func (s *env) installPrevious() {
	s.t.Helper()
	installed := filepath.Join(s.dir, "bin", "orange")
	check(s.t, os.MkdirAll(filepath.Dir(installed), 0o755))
	if previous := os.Getenv(previousVariable); previous != "" {
		text, err := os.ReadFile(previous)
		check(s.t, err)
		check(s.t, os.WriteFile(installed, text, 0o755))
	} else {
		buildVersion(s.t, "0.0.8", installed)
	}
	s.orange("stop")
	s.program = installed
	s.orange("task", "list")
}

// release puts the program under another version into a folder, with its sum.
func (s *env) release(version string) string {
	s.t.Helper()
	dir := filepath.Join(s.dir, "release-"+version)
	check(s.t, os.MkdirAll(dir, 0o755))
	buildVersion(s.t, version, filepath.Join(dir, "orange"))
	text, err := os.ReadFile(filepath.Join(dir, "orange"))
	check(s.t, err)
	check(s.t, os.WriteFile(filepath.Join(dir, "SHA256SUMS"), fmt.Appendf(nil, "%x  orange\n", sha256.Sum256(text)), 0o644))
	return dir
}

// upgrade brings a release in, as a program that has no orange upgrade yet does: by replacing the
// program and restarting the server.
func (s *env) upgrade(release string) string {
	s.t.Helper()
	if os.Getenv(previousVariable) == "" {
		return s.orange("upgrade", "--from", release)
	}
	check(s.t, os.Rename(filepath.Join(release, "orange"), s.program))
	return s.orange("restart")
}

// waits is the step of a script that waits for a file, which the test makes.
func waits(name string) string { return "until [ -e ../../../" + name + " ]; do sleep 0.05; done" }

// An upgrade under a living agent of the earlier release loses nothing: the agent, its shim and its
// window go on, its hooks and commands reach the new server, its exit is seen, and it is resumed.
func TestAnUpgradeKeepsLivingAgents(t *testing.T) {
	t.Parallel()
	for _, sessions := range []string{"tmux", "headless"} {
		t.Run(sessions, func(t *testing.T) {
			s := openEnv(t, sessions)
			s.installPrevious()
			id := s.create("feature", `
worker:
  - section: {name: Plan, text: "APPROACH: x"}
  - run: orange task update --status working
  - run: "`+waits("upgraded")+`"
  - commit: {file: one.txt, text: "one\n", message: one}
  - section: {name: Handoff, text: "DONE: one"}
  - run: orange task update --status agent-review
  - wait:
  - commit: {file: two.txt, text: "two\n", message: two}
  - section: {name: Handoff, text: "DONE: two"}
  - run: orange task update --status agent-review
worker#2:
  - commit: {file: two.txt, text: "two\n", message: two}
  - section: {name: Handoff, text: "DONE: two"}
  - run: orange task update --status agent-review
reviewer:
  - section: {name: Review, text: "Verdict: FAIL"}
  - run: orange task update --status working
reviewer#2:
  - section: {name: Review, text: "Verdict: PASS"}
  - run: orange task update --status reviewing
`)
			s.await(id, "it works", func(t task.Task) bool { return t.Status == "working" })
			before := s.alive(id, 1)
			other := s.create("ends", "worker:\n  - run: \""+waits("upgraded")+"\"\n  - ask: May I?\n  - idle:\nworker#2:\n  - idle:\n")
			asks := s.alive(other, 1)

			said := s.upgrade(s.release("0.1.9"))
			if os.Getenv(previousVariable) == "" && !strings.Contains(said, "from 0.0.8 to 0.1.9. The server was restarted (pid ") {
				t.Errorf("it says %s", said)
			}
			if out := s.orange("doctor"); !strings.Contains(out, "version 0.1.9") || strings.Contains(out, "FAIL") {
				t.Errorf("the doctor says %s", out)
			}
			if after := s.alive(id, 1); after.Child != before.Child {
				t.Errorf("the agent was %v and is %v", before.Child, after.Child)
			}
			s.write("upgraded", "")
			s.await(other, "its hook is heard", func(t task.Task) bool {
				return len(t.Attempts) > 0 && t.Attempts[0].Condition.Name == task.WaitingPermission
			})
			syscallKill(asks.Child.PID)
			s.await(other, "its exit is seen and it is started again", func(t task.Task) bool { return t.AttemptCount() == 2 })
			s.reaches(id, "reviewing")
			if n := count(s.history(id), "agent.lost") + count(s.history(id), "agent.crashed"); n != 0 {
				t.Errorf("%q", s.history(id))
			}
			s.orange("task", "merge", string(id))
			s.reaches(id, "done")
			if left, _ := filepath.Glob(filepath.Join(s.dir, "bin", "*")); len(left) != 1 {
				t.Errorf("beside the program: %q", left)
			}
			if left, _ := filepath.Glob(filepath.Join(s.dir, "bin", ".*")); len(left) != 0 {
				t.Errorf("beside the program: %q", left)
			}
		})
	}
}

// A new program whose server does not answer is rolled back, and the old server continues.
func TestAnUpgradeThatFailsIsTakenBack(t *testing.T) {
	t.Parallel()
	if os.Getenv(previousVariable) != "" {
		t.Skip("the earlier program may have no orange upgrade")
	}
	s := openEnv(t, "headless")
	s.installPrevious()
	id := s.create("feature", "worker:\n  - idle:\n")
	before := s.alive(id, 1)
	old, err := os.ReadFile(s.program)
	check(t, err)
	version := s.orange("version", "--json")

	// It says what a newer release says, and its server cannot open the store.
	bad := s.write("bad", "#!/bin/sh\nif [ \"$1\" = version ]; then echo '"+strings.ReplaceAll(version, "0.0.8", "9.9.9")+"'; exit; fi\n"+
		"echo 'orange: restart: start the server: open the store: it is strange' >&2; exit 1\n")
	check(t, os.Chmod(bad, 0o755))
	s.refused("start the server of version 9.9.9: start the server: open the store: it is strange; version 0.0.8 is back in place, and its server answers (pid ", "upgrade", "--from", bad)
	if now, err := os.ReadFile(s.program); err != nil || string(now) != string(old) {
		t.Errorf("the program is another one: %v", err)
	}
	if out := s.orange("doctor"); !strings.Contains(out, "version 0.0.8") {
		t.Errorf("%s", out)
	}
	if after := s.alive(id, 1); after.Child != before.Child {
		t.Errorf("the agent was %v and is %v", before.Child, after.Child)
	}

	// A refused upgrade changes nothing, and the server continues.
	pid := lock.ReadHolder(s.home).PID
	dir := s.release("0.1.9")
	check(t, os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(strings.Repeat("0", 64)+"  orange\n"), 0o644))
	s.refused("has the sum ", "upgrade", "--from", dir)
	s.write("release-0.1.9/SHA256SUMS", strings.Repeat("0", 64)+"  other\n")
	s.refused("has no sum for orange: get the files of one release", "upgrade", "--from", dir)
	check(t, os.Remove(filepath.Join(dir, "SHA256SUMS")))
	if out := s.orange("upgrade", "--from", dir, "--dry-run"); !strings.Contains(out, "Would replace "+s.program+", version 0.0.8, by version 0.1.9") || !strings.Contains(out, "Its sum was not verified") {
		t.Errorf("%s", out)
	}
	if now := lock.ReadHolder(s.home).PID; now != pid {
		t.Errorf("the server was %d and is %d", pid, now)
	}
	for say, change := range map[string][2]string{
		"reads stores up to schema 3, and that in":      {`"store":[0-9]*`, `"store":3`},
		"decides by rules 1, and the journal has":       {`"rules":[0-9]*`, `"rules":1`},
		"knows 1 types of journal entries, and this":    {`"entries":[0-9]*`, `"entries":1`},
		"does not say which store it reads, because":    {`"formats":{[^}]*}`, `"other":{}`},
		"is a program for plan9/mips, and this machine": {`"platform":"[^"]*"`, `"platform":"plan9/mips"`},
		"is not Orange: it does not print its version":  {`.*`, `hello`},
	} {
		file := s.write("odd", "#!/bin/sh\necho '"+version+"' | sed 's,"+change[0]+","+change[1]+",'\n")
		check(t, os.Chmod(file, 0o755))
		s.refused(say, "upgrade", "--from", file)
	}
	s.write("odd", "not a program")
	s.refused("is not a program for this machine", "upgrade", "--from", filepath.Join(s.dir, "odd"))
	s.refused("no such file", "upgrade", "--from", filepath.Join(s.dir, "missing"))
	s.refused("has neither an archive for ", "upgrade", "--from", s.repo)
	if left, _ := filepath.Glob(filepath.Join(s.dir, "bin", ".*")); len(left) != 0 {
		t.Errorf("beside the program: %q", left)
	}

	// Others own it.
	s.write("tools/dpkg-query", "#!/bin/sh\necho \"orange: $2\"\n")
	check(t, os.Chmod(filepath.Join(s.dir, "tools/dpkg-query"), 0o755))
	path := s.environ[0]
	s.environ[0] = "PATH=" + filepath.Join(s.dir, "tools") + ":" + os.Getenv("PATH")
	s.refused("belongs to a package of dpkg (orange: "+s.program+"): run sudo dpkg -i FILE.deb, and then orange restart", "upgrade", "--from", dir)
	s.environ[0] = path

	// An agent may not do it, whatever it says about itself.
	agent := s.create("agent", "worker:\n  - run: \"env -u ORANGE_ROLE -u ORANGE_TASK -u ORANGE_TOKEN -u ORANGE_ATTEMPT orange upgrade --from "+dir+" 2>../../../told; orange restart 2>>../../../told; touch ../../../tried\"\n  - idle:\n")
	s.alive(agent, 1)
	s.eventually("it has tried", func() bool {
		_, err := os.Stat(filepath.Join(s.dir, "tried"))
		return err == nil
	})
	told, err := os.ReadFile(filepath.Join(s.dir, "told"))
	if check(t, err); strings.Count(string(told), "leave it to a person") != 2 {
		t.Errorf("the agent is told %s", told)
	}
}
