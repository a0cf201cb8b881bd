// Package wait lets tests wait for a condition. It is for conditions that only asking again can find out, such as what another
// process did; a test that can wait on a channel does that.
package wait

import (
	"testing"
	"time"
)

// deadline is how long a condition may take. It is long, because the machine may be busy; only a test that fails waits
// for it.
const deadline = 4 * time.Minute

// Until waits until a condition holds. If that does not happen in time, the test fails, and the message has what was
// expected and the last result of seen, if it is given.
func Until(t testing.TB, what string, holds func() bool, seen ...func() any) {
	t.Helper()
	for end := time.Now().Add(deadline); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().Before(end) {
			continue
		}
		for _, see := range seen {
			t.Logf("last seen: %+v", see())
		}
		t.Fatalf("timed out after %s, expected: %s", deadline, what)
	}
}
