package cli_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/task"
	"orange/internal/wire"
)

func spendThree(t *testing.T, w *env) {
	t.Helper()
	w.answers[attemptsPath] = attemptsOf(t,
		wire.Attempt{Number: 1, Role: "worker", State: "planning", Harness: "claude", Model: "opus\x1b[31m", Usage: &task.Usage{InputTokens: 90_000, OutputTokens: 12_345, CachedTokens: 7, CostMicroUSD: 1_234_567}},
		wire.Attempt{Number: 2, Role: "reviewer", Harness: "codex"},
		wire.Attempt{Number: 4, Role: "worker", State: "working", Harness: "script:/x", Alive: true, Usage: &task.Usage{OutputTokens: 5, CostMicroUSD: 3}})
	w.store.Tasks[0].Spent = task.Spend{Usage: task.Usage{InputTokens: 90_000, OutputTokens: 12_350, CachedTokens: 7, CostMicroUSD: 1_234_570}}
	w.store.Tasks[0].AttemptCounts = []task.AttemptTally{{Role: "worker", Count: 3}, {Role: "reviewer", Count: 1}}
}

func TestTaskCost(t *testing.T) {
	w := newEnv(t)
	spendThree(t, w)
	const want = `NUMBER  ROLE      STATE     HARNESS    MODEL  INPUT  OUTPUT  CACHED  COST
1       worker    planning  claude     opus   90000  12345   7       $1.234567
2       reviewer  -         codex      -      -      -       -       -
4       worker    working   script:/x  -      -      5       -       $0.000003
total                                         90000  12350   7       $1.23457
`
	if code := w.run(t, "task", "cost", idOne); code != 0 {
		t.Fatal(code, w.err.String())
	}
	if diff := cmp.Diff(want, w.out.String()); diff != "" {
		t.Error(diff)
	}
	const asJSON = `{"task":"oneAAAAAAAAAAAAAAAAAA","attempts":[{"number":1,"role":"worker","state":"planning","harness":"claude","model":"opus\u001b[31m",` +
		`"usage":{"input_tokens":90000,"output_tokens":12345,"cached_tokens":7,"cost_micro_usd":1234567}},{"number":2,"role":"reviewer","harness":"codex"},` +
		`{"number":4,"role":"worker","state":"working","harness":"script:/x","usage":{"output_tokens":5,"cost_micro_usd":3}}],` +
		`"total":{"input_tokens":90000,"output_tokens":12350,"cached_tokens":7,"cost_micro_usd":1234570}}` + "\n"
	if code := w.run(t, "task", "cost", idOne, "--json"); code != 0 {
		t.Fatal(code, w.err.String())
	}
	if diff := cmp.Diff(asJSON, w.out.String()); diff != "" {
		t.Error(diff)
	}
}

// TestTaskCostOfAttemptsThatAreGone shows what the record counts and no attempt says,
// and what the day has had.
func TestTaskCostOfAttemptsThatAreGone(t *testing.T) {
	w := newEnv(t)
	spendThree(t, w)
	w.store.Tasks[0].Spent.InputTokens += 1000
	w.store.Tasks[0].Spent.CostMicroUSD += 500_000
	w.answers[attemptsPath] = attemptsOf(t, wire.Attempt{Number: 3, Role: "worker", Harness: "pi", Usage: &task.Usage{InputTokens: 90_000, OutputTokens: 12_350, CachedTokens: 7, CostMicroUSD: 1_234_570}})
	w.projects = []task.Project{{Name: "proj", Policy: task.Policy{Budget: task.Budget{DayAttempts: 9, DayMicros: 5_000_000}}}}
	w.spent = wire.DailySpend{Attempts: 3, Micros: 1_734_570}
	const want = `NUMBER  ROLE    STATE  HARNESS  MODEL  INPUT  OUTPUT  CACHED  COST
3       worker  -      pi       -      90000  12350   7       $1.23457
other                                  1000   -       -       $0.50
total                                  91000  12350   7       $1.73457

Today in proj: 3 attempts of 9, $1.73457 of $5.00
`
	if code := w.run(t, "task", "cost", idOne); code != 0 {
		t.Fatal(code, w.err.String())
	}
	if diff := cmp.Diff(want, w.out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestTaskCostElsewhere(t *testing.T) {
	none := func(w *env) { w.answers[attemptsPath] = `{"attempts":[]}` }
	spent := func(w *env) {
		spendThree(t, w)
		w.projects = []task.Project{{Name: "proj"}, {Name: "idle"}}
	}
	idle := func(w *env) { spent(w); w.store.Tasks = nil }
	const sums = `ID        STATUS   TASK          ATTEMPTS  INPUT  OUTPUT  CACHED  COST
oneAAAAA  working  proj/feature  4         90000  12350   7       $1.23457
total                            4         90000  12350   7       $1.23457
`
	tell(t, []story{
		{name: "nothing yet", args: "task cost " + idOne, prepare: none, out: "No agent has worked on it yet.\n"},
		{name: "of this workspace", args: "task cost", prepare: func(w *env) { none(w); w.place.Task = idOne }, out: "No agent has worked on it yet.\n"},
		{name: "of this attempt", args: "task cost", prepare: func(w *env) { none(w); w.Config.Task = idOne }, out: "No agent has worked on it yet.\n"},
		{name: "of this folder's project", args: "task cost", prepare: func(w *env) { spent(w); w.place.Project = "proj" }, out: sums},
		{name: "of a project", args: "task cost --project proj", prepare: spent, out: sums},
		{name: "of all", args: "task cost --all", prepare: spent, out: sums},
		{name: "of all, as JSON", args: "task cost --all --json", prepare: spent, out: `{"attempts":4,"tasks":[{"task":"oneAAAAAAAAAAAAAAAAAA","project":"proj","branch":"feature","status":"working","attempts":4,"usage":{"input_tokens":90000`},
		{name: "of a project without tasks", args: "task cost --project idle", prepare: idle, out: "No agent has worked on any task yet.\n"},
		{name: "of no project", args: "task cost --project nope", prepare: idle, code: 1, err: "orange: task cost: project \"nope\" is not known: see orange project list\n"},
		{name: "of nothing", args: "task cost", code: 1, err: "orange: task cost: this folder is neither the workspace of a task nor a project: give the id of a task, --project or --all\n"},
		{name: "of too much", args: "task cost --all " + idOne, code: 2, err: "give one of a task, --project and --all"},
		{name: "of an unknown task", args: "task cost nope", code: 1, err: "not found"},
		{name: "complete an id", args: "__complete|task|cost|", out: idOne, err: "Completion ended"},
	})
}
