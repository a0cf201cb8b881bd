package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// child runs a script as a server would be run, and waits until it is gone.
func child(t *testing.T, script string) error {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "serve.err"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if _, err := log.WriteString("an earlier start\n"); err != nil {
		t.Fatal(err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", script)
	cmd.Stderr, cmd.Stdout = log, write
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	write.Close()
	_, _ = read.Read(make([]byte, 1)) // returns when the child has closed its end
	s := &startedServer{pid: cmd.Process.Pid, log: log.Name(), from: int64(len("an earlier start\n"))}
	for {
		if gone, why := s.HasExited(); gone {
			return why
		}
	}
}

func TestExited(t *testing.T) {
	tests := []struct{ name, script, want string }{
		{"another server was there", "exit 0", ""},
		{"it said why", "echo first >&2; echo orange: serve: open the store: disk full >&2; exit 1", "open the store: disk full"},
		{"it said nothing", "exit 3", "it exited immediately (status 3) without a message: run orange serve to see more"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			why := child(t, tt.script)
			if tt.want == "" && why != nil || tt.want != "" && (why == nil || why.Error() != tt.want) {
				t.Errorf("got %v, want %q", why, tt.want)
			}
		})
	}
}

func TestAServerThatRunsHasNotExited(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	gone, why := (&startedServer{pid: cmd.Process.Pid}).HasExited()
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if gone || why != nil {
		t.Errorf("gone %v, %v", gone, why)
	}
}

// TestBecome lets another run of this test become a program.
func TestBecome(t *testing.T) {
	if os.Getenv("TEST_BECOME") != "" {
		t.Fatal(execProgram([]string{"sh", "-c", `echo "$0 $KEPT${LOST-}"`, "became"}, []string{"KEPT=kept", "PATH=" + os.Getenv("PATH")}))
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestBecome$")
	cmd.Env = append(os.Environ(), "TEST_BECOME=yes", "LOST=lost")
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "became kept\n" {
		t.Errorf("%v: %q", err, out)
	}
}
