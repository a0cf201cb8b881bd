package transport_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"orange/internal/transport"
)

const sharedFile = "../../../shared/conformance/agentfactory.json" // beside the repository, where it exists

type conformanceCase struct {
	Suite, Name     string
	Input, Expected json.RawMessage
	Context         struct {
		Config struct {
			FailureThreshold                                  int
			ResetTimeoutMs, MaxResetTimeoutMs, InitialDelayMs int
			MaxDelayMs                                        int
			BackoffMultiplier                                 float64
		}
	}
}

func conformanceCases(t *testing.T, suite string) (out []conformanceCase) {
	t.Helper()
	raw, err := os.ReadFile(sharedFile)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the shared conformance file is not here")
	}
	if err != nil {
		t.Fatal(err)
	}
	var all []json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		if read[struct{ Suite string }](t, one).Suite == suite {
			out = append(out, read[conformanceCase](t, one))
		}
	}
	if len(out) == 0 {
		t.Fatalf("no cases of suite %s", suite)
	}
	return out
}

func read[T any](t *testing.T, raw []byte) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return v
}

func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }

// A step of a script of the cases: time passes, a state is read, or something is called.
type step struct {
	ReadState transport.State `json:"read_state"`
	AdvanceMs int             `json:"advance_ms"`
	Call      string
	Args      []json.RawMessage
	Returns   json.RawMessage
}

func TestBreakerConformance(t *testing.T) {
	for _, row := range conformanceCases(t, "circuit_breaker") {
		t.Run(row.Name, func(t *testing.T) {
			c := row.Context.Config
			p := &player{now: time.Unix(1000, 0), b: transport.Breaker{
				After: c.FailureThreshold, Reset: ms(c.ResetTimeoutMs), Most: ms(c.MaxResetTimeoutMs), Factor: c.BackoffMultiplier,
			}}
			for i, s := range read[[]step](t, row.Input) {
				p.play(t, i, s)
			}
		})
	}
}

type player struct {
	now time.Time
	b   transport.Breaker
}

type theirStatus struct {
	State                                      transport.State
	ConsecutiveFailures, CurrentResetTimeoutMs int
}

func (p *player) play(t *testing.T, i int, s step) {
	t.Helper()
	p.now = p.now.Add(ms(s.AdvanceMs))
	if s.ReadState != "" && p.b.State(p.now) != s.ReadState {
		t.Errorf("step %d: it is %s, want %s", i, p.b.State(p.now), s.ReadState)
	}
	switch s.Call {
	case "canProceed":
		if got := p.b.Allow(p.now); got != read[bool](t, s.Returns) {
			t.Errorf("step %d: Allow = %v", i, got)
		}
	case "recordAuthFailure":
		p.b.Fail(p.now)
	case "recordSuccess", "reset":
		p.b.Pass()
	case "getStatus":
		got := theirStatus{p.b.State(p.now), p.b.Failures(), int(p.b.Lasts().Milliseconds())}
		if diff := cmp.Diff(read[theirStatus](t, s.Returns), got); diff != "" {
			t.Errorf("step %d: %s", i, diff)
		}
	case "isAuthError":
		checkDenied(t, i, s)
	}
}

// checkDenied compares what is said about statuses. Words in a body are for a tracker's
// own adapter to read, and a rate limit is no refusal of credentials here: it is waited for.
func checkDenied(t *testing.T, i int, s step) {
	t.Helper()
	var in struct{ Status int }
	if len(s.Args) == 0 || json.Unmarshal(s.Args[0], &in) != nil || in.Status == 0 {
		return
	}
	sent := 0
	tr := transport.New(transport.Options{Tries: 1, Base: roundTripper(func(*http.Request) (*http.Response, error) {
		sent++
		return reply(in.Status), nil
	})})
	for range 3 {
		if resp, err := tr.RoundTrip(request(t, http.MethodGet, "")); err == nil {
			resp.Body.Close()
		}
	}
	if got := sent == 2; got != read[bool](t, s.Returns) {
		t.Errorf("step %d: %d refuses credentials: %v", i, in.Status, got)
	}
}

func TestBackoffConformance(t *testing.T) {
	for _, row := range conformanceCases(t, "retry_delay") {
		c := row.Context.Config
		b := transport.Backoff{First: ms(c.InitialDelayMs), Most: ms(c.MaxDelayMs), Factor: c.BackoffMultiplier}
		in := read[struct{ Attempt int }](t, row.Input)
		if got := int(b.Delay(in.Attempt).Milliseconds()); got != read[int](t, row.Expected) {
			t.Errorf("%s: try %d: %d, want %s", row.Name, in.Attempt, got, row.Expected)
		}
	}
}

func TestBackoff(t *testing.T) {
	want := []time.Duration{1, 2, 4, 8, 10, 10}
	for n, seconds := range want {
		if got := (transport.Backoff{}).Delay(n); got != seconds*time.Second {
			t.Errorf("try %d: %s", n, got)
		}
	}
	if got := (transport.Backoff{}).Delay(5000); got != 10*time.Second {
		t.Errorf("far out: %s", got)
	}
	if got := (transport.Backoff{}).Delay(-1); got != time.Second {
		t.Errorf("before the first: %s", got)
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
				b.Fail(now)
			case 3:
				b.Pass()
				probes = 0
			case 4:
				b.Release()
				probes = 0
			}
			if wait := b.Until().Sub(now); b.State(now) == transport.Open && (wait <= 0 || wait > 5*time.Minute) {
				t.Fatalf("open for %s", wait)
			}
		}
	})
}
