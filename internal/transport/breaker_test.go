package transport_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"orange/internal/transport"
)

// Each script is words: a duration passes; fail, pass and release tell what became of a request; may and mustn't ask
// for one; closed, open and half-open are the state wanted; failures=N and lasts=D are what is shown of it.
var breakerScripts = map[string]struct {
	breaker transport.Breaker
	script  string
}{
	"as it begins":                        {script: "closed failures=0 may may"},
	"the usual limits":                    {script: "fail closed may fail open failures=2 lasts=1m mustn't 59.999s open 1ms half-open may fail lasts=2m 2m may fail lasts=4m 4m may fail lasts=5m 5m may fail lasts=5m"},
	"one refusal is enough":               {transport.Breaker{After: 1}, "fail open mustn't"},
	"three refusals in a row":             {transport.Breaker{After: 3}, "fail fail pass fail fail closed failures=2 fail open failures=3"},
	"one probe":                           {transport.Breaker{After: 1, Reset: 7 * time.Second}, "fail 8s half-open may mustn't mustn't"},
	"a probe that says nothing":           {transport.Breaker{After: 1, Reset: 7 * time.Second}, "fail 7s may mustn't release half-open may"},
	"a probe that is refused":             {transport.Breaker{After: 1, Reset: 4 * time.Second, Factor: 3}, "fail lasts=4s 4s may fail open failures=2 lasts=12s 11s open 1s half-open may"},
	"its time grows to a limit":           {transport.Breaker{After: 1, Reset: 20 * time.Second, Most: 50 * time.Second}, "fail 20s may fail lasts=40s 40s may fail lasts=50s failures=3 50s may fail lasts=50s failures=4"},
	"a limit below its first time":        {transport.Breaker{After: 1, Reset: 20 * time.Second, Most: time.Second}, "fail lasts=20s 20s may fail lasts=20s"},
	"a factor that would make it shorter": {transport.Breaker{After: 1, Reset: 20 * time.Second, Factor: 0.5}, "fail 20s may fail lasts=20s"},
	"a probe that passes forgets all":     {transport.Breaker{After: 1, Reset: 20 * time.Second}, "fail 20s may fail lasts=40s 40s may pass closed failures=0 may fail lasts=20s"},
	"a success while it is open":          {transport.Breaker{After: 1}, "fail open pass closed may"},
	"a late refusal while it is open":     {transport.Breaker{After: 1, Reset: 10 * time.Second}, "fail 3s fail failures=2 open lasts=7s 7s half-open"},
}

func TestBreaker(t *testing.T) {
	for name, tt := range breakerScripts {
		t.Run(name, func(t *testing.T) {
			b, now := tt.breaker, time.Unix(1000, 0)
			for i, word := range strings.Fields(tt.script) {
				if got := playWord(t, &b, &now, word); got != word {
					t.Fatalf("word %d: %s, want %s", i+1, got, word)
				}
			}
		})
	}
}

// playWord performs one word of a script, and returns the breaker's state in the same form.
func playWord(t *testing.T, b *transport.Breaker, now *time.Time, word string) string {
	t.Helper()
	switch what, _, _ := strings.Cut(word, "="); what {
	case "fail":
		b.RecordFailure(*now)
	case "pass":
		b.RecordSuccess()
	case "release":
		b.ReleaseProbe()
	case "may", "mustn't":
		if !b.Allow(*now) {
			return "mustn't"
		}
		return "may"
	case "closed", "open", "half-open":
		return string(b.State(*now))
	case "failures":
		return fmt.Sprint("failures=", b.Failures())
	case "lasts":
		want, err := time.ParseDuration(strings.TrimPrefix(word, "lasts="))
		if got := b.OpenUntil().Sub(*now); err != nil || got != want {
			return fmt.Sprint("lasts=", got)
		}
	default:
		d, err := time.ParseDuration(word)
		if err != nil {
			t.Fatal(err)
		}
		*now = now.Add(d)
	}
	return word
}

// Only some statuses mean that the credentials are refused. A rate limit does not: the client
// waits for its end.
func TestStatusesThatRefuseCredentials(t *testing.T) {
	for status, want := range map[int]bool{200: false, 204: false, 401: true, 403: true, 404: false, 409: false, 429: false, 500: false, 503: false} {
		sent := 0
		tr := transport.New(transport.ClientOptions{Tries: 1, Base: roundTripper(func(*http.Request) (*http.Response, error) {
			sent++
			return reply(status), nil
		})})
		for range 3 {
			if resp, err := tr.RoundTrip(request(t, http.MethodGet, "")); err == nil {
				resp.Body.Close()
			}
		}
		if got := sent == 2; got != want {
			t.Errorf("%d refuses credentials: %v, want %v", status, got, want)
		}
	}
}

// Whatever happens to a breaker, it never stays shut for longer than it may, and never
// lets a second request through beside a probe.
func TestEveryBreaker(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, now, probes := transport.Breaker{}, time.Unix(0, 0), 0
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.IntRange(0, 4).Draw(t, "step") {
			case 0:
				now = now.Add(time.Duration(rapid.IntRange(0, 400).Draw(t, "seconds")) * time.Second)
			case 1:
				state := b.State(now)
				if b.Allow(now) && state == transport.HalfOpen {
					probes++
				}
				if probes > 1 || state == transport.Open && b.Allow(now) {
					t.Fatal("it lets through what it should not")
				}
			case 2:
				if b.State(now) != transport.Open {
					probes = 0
				}
				b.RecordFailure(now)
			case 3:
				b.RecordSuccess()
				probes = 0
			case 4:
				b.ReleaseProbe()
				probes = 0
			}
			if wait := b.OpenUntil().Sub(now); b.State(now) == transport.Open && (wait <= 0 || wait > 5*time.Minute) {
				t.Fatalf("open for %s", wait)
			}
		}
	})
}
