package shim_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"orange/internal/adapter/shim"
)

// TestAProcessIsDescribedWithoutItsArguments describes a process whose arguments and
// environment hold secrets.
func TestAProcessIsDescribedWithoutItsArguments(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the file of a process is known on Linux only")
	}
	cmd := exec.Command("sleep", "600.13579")
	cmd.Env = append(os.Environ(), "TOKEN=hunter2-13579")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		cmd.Process.Kill() //nolint:errcheck // it has ended
		cmd.Wait()         //nolint:errcheck // it was killed
	}()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	got := shim.DescribeProcess(cmd.Process.Pid)
	text, err := json.Marshal(got)
	if err != nil || strings.Contains(string(text), "13579") {
		t.Errorf("it holds a secret: %s %v", text, err)
	}
	if got.Parent != filepath.Base(self) || got.Program == "" || filepath.Base(got.Path) != got.Program {
		t.Errorf("%+v", got)
	}
	if got := shim.DescribeProcess(1 << 30); got != (shim.Description{}) {
		t.Errorf("nobody is described: %+v", got)
	}
}
