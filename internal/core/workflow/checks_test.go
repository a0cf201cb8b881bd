package workflow_test

import (
	"strings"
	"testing"

	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/core/workflow/builtin"
)

const checkedFile = `
name: checked
version: 1
describe: one agent, one check
roles:
  worker: {harness: task, session: visit, window: w, prompt: go}
checks:
  lint: make lint
  tests: {run: make test, timeout: 20m, retries: 1, env: {CI: "1"}, folder: server, setup: npm ci}
counters:
  rounds: {max: 2, reset: person}
  crash_count: {max: 1, per: state, counts: crashes}
states:
  working: {kind: agent, role: worker, deadline: {wall: 1h, idle: 10m}}
  checking: {kind: check, checks: [lint, tests]}
  halted: {kind: halt}
  done: {kind: terminal}
  cancelled: {kind: terminal}
edges:
  - {from: new, to: working, on: create, by: [human], do: [acquire_workspace]}
  - {from: working, to: checking, on: [request, exit], by: [worker, human], do: [push]}
  - {from: checking, to: done, on: {check: passed}, do: [delete_remote_branch]}
  - {from: checking, to: working, on: {check: failed}, when: rounds < 2, count: {rounds: +1}}
  - {from: checking, to: halted, on: {check: failed}, when: rounds >= 2}
  - {from: working, to: halted, on: crash-limit}
  - {from: halted, to: working, as: resume, by: [human]}
  - {from: [working, checking, halted], to: cancelled, as: cancel, by: [human]}
prompts:
  go: go, and run orange task update --status done
`

func TestAFileWithChecks(t *testing.T) {
	d, err := workflow.Parse("t.yaml", checkedFile)
	if err != nil {
		t.Fatal(err)
	}
	want := task.CheckDefinition{Name: "tests", Run: "make test", Timeout: 20 * 60e9, Retries: 1, Env: []string{"CI=1"}, Folder: "server", Setup: "npm ci"}
	if c, _ := d.Checks.Named("tests"); len(d.Checks) != 2 || c.CommandDigest() != want.CommandDigest() || c.EnvironmentDigest() != want.EnvironmentDigest() || c.Timeout != want.Timeout {
		t.Errorf("%+v", d.Checks)
	}
	if found := workflow.ErrorFindings(d.Check()); len(found) > 0 {
		t.Error(found)
	}
	u := d.ForTask(nil)
	edge := &u.Edges[u.EdgesFrom("working")[0]]
	if _, ok := u.StateNamed("checking"); ok || edge.To != "done" || edge.Number() != 2 || len(edge.Do) != 2 || len(u.Counters) != 1 {
		t.Errorf("%+v, %+v", edge, u.Counters)
	}
	if d.ForTask(d.Checks) != d || u.ForTask(nil) != u {
		t.Error("the forms are not found")
	}
}

func TestMistakesInChecks(t *testing.T) {
	for name, c := range map[string]struct{ from, to, want string }{
		"no passed edge":    {"  - {from: checking, to: done, on: {check: passed}, do: [delete_remote_branch]}\n", "", "check-uncovered: state checking needs one edge with on: {check: passed} and has 0"},
		"a guarded one":     {"on: {check: passed}, do", "on: {check: passed}, when: rounds < 1, do", "check-uncovered: edge checking -> done is taken when the checks passed"},
		"failed uncovered":  {"when: rounds >= 2", "when: rounds > 2", "check-uncovered: no edge answers when a check fails in checking"},
		"no bound":          {"when: rounds < 2, count: {rounds: +1}", "when: rounds < 2", "check-unbounded: edge checking -> working leads back"},
		"elsewhere":         {"on: [request, exit], by: [worker, human]", "on: {check: passed}", "trigger-ignored: edge working -> checking waits for check passed"},
		"a role of its own": {"  worker: {", "  check: {harness: task, prompt: go}\n  worker: {", `role "check": this is the name of the role that runs checks`},
		"a role there":      {"{kind: check, ", "{kind: check, role: worker, ", "where no agent works: drop role:"},
		"another kind":      {"{kind: halt}", "{kind: halt, checks: [lint]}", "write kind: check"},
		"no command":        {"  lint: make lint\n", "  lint: {timeout: 1m}\n", "check lint has no command"},
		"twice":             {"  lint: make lint\n", "  lint: a\n  lint: b\n", "lint"},
		"a bad folder":      {"folder: server", "folder: ../x", "leads out of the worktree"},
		"an unknown key":    {"retries: 1", "tries: 1", `a check has no key "tries"`},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(checkedFile, c.from, c.to, 1)
			if text == checkedFile {
				t.Fatal("nothing is changed")
			}
			d, err := workflow.Parse("t.yaml", text)
			got := ""
			if err != nil {
				got = err.Error()
			} else {
				for _, f := range d.Check() {
					got += f.String() + "\n"
				}
			}
			if !strings.Contains(got, c.want) {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// Without checks the built-in workflows have no check state, and lead where they led before.
func TestBuiltInsWithoutChecks(t *testing.T) {
	for name, behind := range map[string]string{"orange": "agent-review", "orange-direct": "agent-review", "solo": "reviewing", "linear-sdlc": "Finished", "joan-board": "review"} {
		text, _ := builtin.Text(name)
		d, err := workflow.Parse(name+".yaml", text)
		if err != nil {
			t.Fatal(err)
		}
		check := "checking"
		if name == "linear-sdlc" {
			check = "Checking"
		}
		if e := d.PassedEdge(check); e == nil || e.To != behind || d.ForTask(nil).HasCheckStates() {
			t.Errorf("%s: %+v", name, e)
		}
		if _, ok := d.ForTask(nil).CounterNamed("check_round"); ok {
			t.Errorf("%s counts checks that there are not", name)
		}
	}
}
