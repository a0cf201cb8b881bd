package wait

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
)

// failing is a test that records how it fails.
type failing struct {
	testing.TB
	said []string
}

func (f *failing) Helper() {}
func (f *failing) Logf(format string, args ...any) {
	f.said = append(f.said, fmt.Sprintf(format, args...))
}
func (f *failing) Fatalf(format string, args ...any) {
	f.Logf(format, args...)
	panic(f)
}

func TestUntil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		Until(t, "the third question", func() bool { asked++; return asked == 3 })
		if asked != 3 {
			t.Errorf("asked %d times", asked)
		}
		f := &failing{TB: t}
		defer func() {
			if recover() != f {
				t.Error("a condition that never holds does not fail the test")
			}
			if got := strings.Join(f.said, "; "); got != "last seen: rain; timed out after 4m0s, expected: sunshine" {
				t.Errorf("the test says %q", got)
			}
		}()
		Until(f, "sunshine", func() bool { return false }, func() any { return "rain" })
	})
}
