package cli_test

import (
	"context"
	"strings"
	"testing"

	"orange/internal/core/tracker"
	"orange/internal/ui/cli"
)

func TestDispatch(t *testing.T) {
	const round = `{"tracker":"lin","choices":[{"key":"ENG-1","title":"Sell\u001b[1m it","dispatch":true,"task":"` + idOne + `","reason":"it is next"},` +
		`{"key":"ENG-2","title":"A title that is much longer than the forty characters it gets","dispatch":false,"reason":"blocked by\nENG-1"},{"key":"ENG-3","title":"Dry","dispatch":true,"reason":"it is next"}],` +
		`"report":{"tracker":"lin","news":["lin:ENG-4: held by alice"],"drift":[]}}`
	const printed = "lin:ENG-4: held by alice\n" +
		"started  lin:ENG-1  Sell it                                   task " + idOne + "\n" +
		"waits    lin:ENG-2  A title that is much longer than the...  blocked by ENG-1\n" +
		"started  lin:ENG-3  Dry                                       it is next\n"
	tell(t, []story{
		{name: "one", args: "dispatch lin", prepare: answering("/v1/trackers/lin/dispatch", round), out: "started  lin:ENG-1  Sell it", asked: []string{`POST /v1/trackers/lin/dispatch {"dry":false}`}},
		{name: "dry", args: "dispatch lin --dry-run --once", prepare: answering("/v1/trackers/lin/dispatch", round), asked: []string{`POST /v1/trackers/lin/dispatch {"dry":true}`}},
		{name: "the news first", args: "dispatch lin", prepare: answering("/v1/trackers/lin/dispatch", round), out: strings.Split(printed, "\n")[0] + "\nstarted"},
		{name: "what waits", args: "dispatch lin", prepare: answering("/v1/trackers/lin/dispatch", round), out: "blocked by ENG-1\n"},
		{name: "all", args: "dispatch", prepare: answering("/v1/trackers/hub/dispatch", `{"tracker":"hub","choices":[],"report":{}}`, "/v1/trackers/lin/dispatch", round), out: "hub: no issue waits\nlin:ENG-4"},
		{name: "one of all is away", args: "dispatch", prepare: answering("/v1/trackers/hub/dispatch", "error: hub does not answer", "/v1/trackers/lin/dispatch", round), code: 1, out: "hub: hub does not answer\nlin:ENG-4"},
		{name: "none", args: "dispatch", prepare: func(w *env) { w.answers["/v1/trackers"] = `{"trackers":[]}` }, code: 1, err: "there are no trackers: add one with orange tracker add"},
		{name: "as JSON", args: "dispatch lin --json", prepare: answering("/v1/trackers/lin/dispatch", round), out: `{"rounds":[{"tracker":"lin","choices":[{"key":"ENG-1",`},
		{name: "once and for ever", args: "dispatch --once --watch", prepare: withTrackers, code: 2, err: "--once and --watch do not go together: choose one", asked: []string{}},
		{name: "too often", args: "dispatch --watch --every 10ms", prepare: withTrackers, code: 2, err: "--every 10ms: give at least 1s", asked: []string{}},
	})
}

// dispatcher calls a function before it dispatches.
type dispatcher struct {
	parts
	before func()
}

func (d dispatcher) Dispatch(ctx context.Context, name string, dry bool) (tracker.Round, error) {
	d.before()
	return d.parts.Dispatch(ctx, name, dry)
}

// --watch continues until it is interrupted.
func TestDispatchWatches(t *testing.T) {
	w := newEnv(t)
	withTrackers(w)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	rounds := 0
	w.answers["/v1/trackers/lin/dispatch"] = `{"tracker":"lin","choices":[{"key":"ENG-1","title":"Same","dispatch":false,"reason":"held"}],"report":{}}`
	w.api.Trackers = dispatcher{parts{w}, func() {
		if rounds++; rounds == 2 {
			cancel()
		}
	}}
	if code := cli.Run(ctx, w.Deps, []string{"dispatch", "lin", "--watch", "--every", "1s"}); code != 0 {
		t.Errorf("exit code %d: %s", code, w.err.String())
	}
	if n := strings.Count(w.out.String(), "lin:ENG-1"); n != 1 || rounds != 2 {
		t.Errorf("printed %d times in %d rounds: %s", n, rounds, w.out.String())
	}
}
