package notify

import (
	"os"
	"path/filepath"
	"testing"
)

func TestOnlyTerminalsAreRung(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("untouched"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{
		"a file": file, "a way out": "/dev/pts/../../" + file, "a device": "/dev/null", "no path": "", "a folder": "/dev/pts/",
	} {
		if err := ringBell(path); err == nil {
			t.Errorf("%s was rung", name)
		}
	}
	if err := ringBell("/dev/pts/999999"); err != nil {
		t.Errorf("somebody who left: %v", err)
	}
	if text, _ := os.ReadFile(file); string(text) != "untouched" {
		t.Errorf("the file is %q", text)
	}
}
