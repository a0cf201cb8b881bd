// Package testneeds is how tests say what they need beside Go and git. Helpers that give tests a
// terminal, a browser, packages of npm, the model checker, a server or thousands of processes call it. With -short, as make quick
// runs them, these tests are skipped and say why; otherwise they run.
package testneeds

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Terminal says that a test starts tmux.
func Terminal(t testing.TB) { t.Helper(); skipIfShort(t, "a terminal") }

// Server says that a test starts the program as a server, and its agents as processes.
func Server(t testing.TB) { t.Helper(); skipIfShort(t, "a server in a process of its own") }

// Browser says that a test starts Chromium, and returns the program. Where there is none, the test is skipped, unless
// ORANGE_CHROMIUM says that there is one.
func Browser(t testing.TB) string {
	t.Helper()
	skipIfShort(t, "a browser")
	wanted := os.Getenv("ORANGE_CHROMIUM")
	for _, name := range []string{wanted, "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if wanted != "" {
		t.Fatalf("ORANGE_CHROMIUM is %q, and there is no Chromium", wanted)
	}
	t.Skip("there is no Chromium: install it to test the pages in a browser")
	return ""
}

// WantsPictures reports whether tests with a browser draw pictures of what it shows: if ORANGE_SCREENSHOTS is set. To draw
// one takes longer than most tests.
func WantsPictures() bool { return os.Getenv("ORANGE_SCREENSHOTS") != "" }

// NPM says that a test runs or reads a package of npm, and returns its folder. scripts/contracts.sh installs it, and
// ORANGE_NPM_DIR names the folder that has it.
func NPM(t testing.TB, name string) string {
	t.Helper()
	skipIfShort(t, "packages of npm")
	dir := os.Getenv("ORANGE_NPM_DIR")
	if dir == "" {
		t.Skipf("ORANGE_NPM_DIR is not set: it names a folder with node_modules, and %s in it", name)
	}
	path := filepath.Join(dir, "node_modules", filepath.FromSlash(name))
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%s is not installed in ORANGE_NPM_DIR: %v", name, err)
	}
	return path
}

// ModelChecker says that a test searches all states of a workflow.
func ModelChecker(t testing.TB) { t.Helper(); skipIfShort(t, "the model checker") }

// Processes says that a test starts thousands of processes, one after the other.
func Processes(t testing.TB) { t.Helper(); skipIfShort(t, "thousands of processes") }

func skipIfShort(t testing.TB, what string) {
	t.Helper()
	if testing.Short() {
		t.Skipf("it needs %s, and -short leaves that out: run make check", what)
	}
}

// Soak says that a test takes minutes: only make soak runs it.
func Soak(t testing.TB) {
	t.Helper()
	if _, ok := SoakSeed(t); !ok {
		t.Skip("it takes minutes: run make soak")
	}
}

// SoakSeed returns the seed of this round of make soak. Outside make soak it is not ok.
func SoakSeed(t testing.TB) (seed uint64, ok bool) {
	t.Helper()
	text := os.Getenv("ORANGE_SOAK_SEED")
	if text == "" {
		return 0, false
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("ORANGE_SOAK_SEED: %v", err)
	}
	t.Logf("seed %d", seed)
	return seed, true
}

// OncePerSoak says that a test takes long and is the same each time: make soak runs it in one of ten rounds.
func OncePerSoak(t testing.TB) {
	t.Helper()
	if seed, ok := SoakSeed(t); ok && seed%10 != 1 {
		t.Skip("it is the same in each round of make soak: it runs in one of ten")
	}
}

// SoakOnly returns the numbers in ORANGE_SOAK_ONLY, "246,624": a test of random cases runs only these of its seed.
func SoakOnly(t testing.TB) []int {
	t.Helper()
	var out []int
	for _, text := range strings.FieldsFunc(os.Getenv("ORANGE_SOAK_ONLY"), func(r rune) bool { return r == ',' }) {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatalf("ORANGE_SOAK_ONLY: %v", err)
		}
		out = append(out, n)
	}
	return out
}
