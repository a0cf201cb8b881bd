// Package testneeds is how tests say what they need beside Go and git. Helpers that give tests a
// terminal, a browser, packages of npm or the model checker call it. With -short, as make quick
// runs them, these tests are skipped and say why; otherwise they run.
package testneeds

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// Terminal says that a test starts tmux.
func Terminal(t testing.TB) { t.Helper(); skipIfShort(t, "a terminal") }

// Browser says that a test starts Chromium.
func Browser(t testing.TB) { t.Helper(); skipIfShort(t, "a browser") }

// NPM says that a test runs or reads packages of npm.
func NPM(t testing.TB) { t.Helper(); skipIfShort(t, "packages of npm") }

// ModelChecker says that a test searches all states of a workflow.
func ModelChecker(t testing.TB) { t.Helper(); skipIfShort(t, "the model checker") }

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
