package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/workflow/builtin"
	"orange/internal/ui/cli"
)

// shelf is a source of workflows with the built-in ones and files.
type shelf struct{}

func (shelf) FindWorkflow(name, cwd string) (file, text string, err error) {
	if strings.ContainsRune(name, '/') || filepath.Ext(name) != "" {
		if !filepath.IsAbs(name) {
			name = filepath.Join(cwd, name)
		}
		b, err := os.ReadFile(name)
		return name, string(b), err
	}
	text, ok := builtin.Text(name)
	if !ok {
		return "", "", errors.New("workflow " + name + " is not known: see orange workflow list")
	}
	return builtin.File(name), text, nil
}

func (shelf) SaveWorkflows(list []cli.WorkflowEntry, cwd string, _, _ bool) ([]string, error) {
	var out []string
	for _, e := range list {
		file := filepath.Join(cwd, e.Name+".json")
		if err := os.WriteFile(file, []byte(e.Text), 0o600); err != nil {
			return nil, err
		}
		out = append(out, file)
	}
	return out, nil
}

func (shelf) ListWorkflows(string) ([]cli.WorkflowEntry, error) {
	var out []cli.WorkflowEntry
	for _, name := range builtin.Names() {
		text, _ := builtin.Text(name)
		out = append(out, cli.WorkflowEntry{Name: name, Origin: "built-in", File: builtin.File(name), Text: text})
	}
	out = append(out, cli.WorkflowEntry{Name: "odd", Origin: "repo", File: "odd.yaml", Text: "name: ["})
	return out, nil
}

// orange runs a command line with text on standard input.
func orange(t testing.TB, cwd, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = cli.Run(context.Background(), cli.Deps{
		ConfigErr: errors.New("no configuration: the pure commands need none"),
		Stdin:     strings.NewReader(stdin), Stdout: &out, Stderr: &errs, Cwd: cwd, Workflows: shelf{},
	}, args)
	return code, out.String(), errs.String()
}

// decided is what workflow decide answers.
type decided struct {
	Decision string
	From, To string
	Reason   string
	Reasons  []struct{ Rule, Text string }
	Effects  []struct{ Do, By, Role string }
	Counters map[string]int
	Error    string
}

// by lists the effects of an edge or of a state.
func (d decided) by(who string) []string {
	out := []string{}
	for _, e := range d.Effects {
		if e.By == who {
			out = append(out, e.Do)
		}
	}
	return out
}

func decide(t testing.TB, workflow, body string, args ...string) decided {
	t.Helper()
	args = append([]string{"workflow", "decide", workflow, "--task-file", "-", "--json"}, args...)
	code, out, errs := orange(t, t.TempDir(), body, args...)
	if code != 0 {
		t.Fatalf("%v: exit %d: %s%s", args, code, out, errs)
	}
	var d decided
	if err := json.Unmarshal([]byte(out), &d); err != nil {
		t.Fatalf("%v: %v: %s", args, err, out)
	}
	return d
}

func TestDecideAnswersFromFlags(t *testing.T) {
	plan, handoff, fail := "## Plan\n\nAPPROACH: x\n", "## Handoff\n\nDONE: x\n", "## Review\n\nVerdict: FAIL\n"
	tests := []struct {
		name, body string
		args       []string
		decision   string
		to, says   string
		edge       []string
		state      []string
	}{
		{"a gate that opens", plan, []string{"--from", "planning", "--to", "working"}, "advance", "working", "## Plan", nil, nil},
		{"a stale section", plan, []string{"--from", "planning", "--to", "working", "--stale", "Plan"}, "refuse", "", "is stale", nil, nil},
		{"a stale section in lower case", plan, []string{"--from", "planning", "--to", "working", "--stale", "plan"}, "refuse", "", "is stale", nil, nil},
		{"no task file", "", []string{"--from", "planning", "--to", "working"}, "refuse", "", "has no ## Plan", nil, nil},
		{"an actor who may not", plan, []string{"--from", "planning", "--to", "working", "--actor", "reviewer"}, "refuse", "", "reviewer may not", nil, nil},
		{"an actor who is dead", plan, []string{"--from", "planning", "--to", "working", "--actor", "worker", "--dead", "worker"}, "refuse", "", "no worker of this task is alive", nil, nil},
		{"an actor who may", plan, []string{"--from", "planning", "--to", "working", "--actor", "worker"}, "advance", "working", "## Plan", nil, nil},
		{"an actor who must ask", "", []string{"--from", "stuck", "--to", "reviewing", "--actor", "fixer"}, "stay", "", "a person must agree", nil, nil},
		{"evidence that is there", "", []string{"--from", "reviewing", "--to", "done"}, "advance", "done", "merged", []string{"kill_session", "release_workspace", "delete_remote_branch", "spawn_next"}, nil},
		{"evidence that is missing", "", []string{"--from", "reviewing", "--to", "done", "--without", "merged"}, "refuse", "", "merged", nil, nil},
		{"an exit with evidence", plan, []string{"--from", "planning", "--exit"}, "advance", "working", "ended", nil, []string{"spawn_agent"}},
		{"an exit without", "", []string{"--from", "planning", "--exit"}, "crash", "", "ended", nil, nil},
		{"a reviewer's exit without a verdict", "", []string{"--from", "agent-review", "--exit"}, "crash", "", "no ## Review", nil, []string{"spawn_reviewer"}},
		{"an exit of another role", handoff, []string{"--from", "agent-review", "--exit=worker"}, "stay", "", "goes on without it", nil, nil},
		{"an exit where a person decides", "", []string{"--from", "reviewing", "--exit"}, "crash", "", "nothing moves", nil, nil},
		{"an exit at the limit", "", []string{"--from", "working", "--exit", "--set", "crash_count=1"}, "advance", "stuck", "crash 2 of 2", nil, []string{"spawn_agent"}},
		{"an exit far above the limit", "", []string{"--from", "working", "--exit", "--set", "crash_count=9"}, "advance", "stuck", "crash 10 of 2", nil, []string{"spawn_agent"}},
		{"an exit in a queue", "", []string{"--from", "pending", "--exit"}, "stay", "", "nobody works there", nil, nil},
		{"an exit when all is over", "", []string{"--from", "done", "--exit"}, "stay", "", "as ordered", nil, nil},
		{"a dead worker is started to be told", fail, []string{"--from", "agent-review", "--to", "working", "--set", "review_round=1", "--dead", "worker"}, "advance", "working", "## Review", []string{"kill_reviewer", "notify_worker"}, nil},
		{"an outcome nobody knows", "", []string{"--from", "working", "--outcome", "DONE"}, "stay", "", "no edge from working answers to outcome DONE", nil, nil},
		{"the way back", "", []string{"--from", "clarification", "--to", "working", "--set", "return_to=working"}, "advance", "working", "none needed on the way back", nil, []string{}},
		{"a beginning", "", []string{"--from", "new", "--to", "agent-review"}, "advance", "agent-review", "", []string{"acquire_workspace", "spawn_reviewer"}, nil},
		{"a beginning that is none", "", []string{"--from", "new", "--to", "working"}, "refuse", "", "Invalid status", nil, nil},
		{"a finished task is reopened", "", []string{"--from", "cancelled", "--to", "pending"}, "advance", "pending", "", nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := decide(t, "orange", tt.body, tt.args...)
			if d.Decision != tt.decision || d.To != tt.to || !strings.Contains(d.Reason, tt.says) {
				t.Errorf("got %s to %q because %q, want %s to %q because %q", d.Decision, d.To, d.Reason, tt.decision, tt.to, tt.says)
			}
			if tt.edge != nil && cmp.Diff(tt.edge, d.by("edge")) != "" {
				t.Errorf("effects of the edge: %v, want %v", d.by("edge"), tt.edge)
			}
			if tt.state != nil && cmp.Diff(tt.state, d.by("state")) != "" {
				t.Errorf("effects of the state: %v, want %v", d.by("state"), tt.state)
			}
		})
	}
}

// The tables of the engine try every move, every exit and every body. These try what the command line adds: flags, the
// task file, and the words of its answer.
func TestDecideAboutMoves(t *testing.T) {
	const plan, handoff, pass, fail = "## Plan\n\nTOUCHING: the index\n", "## Handoff\n\nDECISIONS: one table\n", "## Review\n\nverdict: pass\n", "## Review\n\nVerdict: FAIL\n\nIt leaks.\n"
	const clear = "kill_session release_workspace"
	for _, tt := range []struct{ workflow, from, to, body, set, want string }{
		{"orange", "pending", "planning", "", "", "advance acquire_workspace spawn_agent"},
		{"orange", "pending", "working", "", "", "not in map"},
		{"orange", "planning", "planning", plan, "", "not in map"},
		{"orange", "planning", "stuck", plan, "", "not in map"},
		{"orange", "planning", "working", handoff, "", ": gate: "},
		{"orange", "planning", "working", plan, "crash_count=1", "advance"},
		{"orange", "clarification", "working", "", "", ": gate: "},
		{"orange", "clarification", "done", plan, "", "not in map"},
		{"orange", "working", "agent-review", pass, "", ": gate: "},
		{"orange", "working", "agent-review", handoff, "", "advance spawn_reviewer"},
		{"orange", "agent-review", "reviewing", fail, "", ": gate: "},
		{"orange", "agent-review", "reviewing", pass, "", "advance kill_reviewer"},
		{"orange", "agent-review", "working", fail, "review_round=1", "advance kill_reviewer notify_worker"},
		{"orange", "agent-review", "working", pass, "review_round=1", ": gate: "},
		{"orange", "agent-review", "working", fail, "review_round=2", ": guard: "},
		{"orange", "agent-review", "stuck", fail, "review_round=1", ": guard: "},
		{"orange", "agent-review", "stuck", fail, "review_round=2", "advance kill_reviewer"},
		{"orange", "agent-review", "stuck", pass, "review_round=3", ": gate: "},
		{"orange", "agent-review", "cancelled", "", "", "advance kill_reviewer " + clear},
		{"orange", "reviewing", "working", "", "", "advance notify_worker"},
		{"orange", "reviewing", "done", "", "", "advance " + clear + " delete_remote_branch spawn_next"},
		{"orange", "stuck", "reviewing", "", "", "advance"},
		{"orange", "stuck", "cancelled", "", "", "advance " + clear},
		{"orange", "done", "pending", "", "", "not in map"},
		{"orange-direct", "pending", "working", "", "", "advance acquire_workspace spawn_agent"},
		{"orange-direct", "working", "agent-review", "## Handoff\n\nfree words\n", "", "advance spawn_reviewer"},
		{"orange-direct", "agent-review", "reviewing", "## Review\n\n**Pass**, no notes\n", "", "advance kill_reviewer"},
		{"orange-direct", "agent-review", "reviewing", "## Review\n\nit may surpass us\n", "", ": gate: "},
		{"orange-direct", "agent-review", "working", "## Review\n\nso far a FAIL\nsoon a PASS\n", "", "advance kill_reviewer spawn_agent"},
		{"orange-direct", "reviewing", "working", "", "", "not in map"},
		{"orange-direct", "stuck", "cancelled", "", "", "advance " + clear},
		{"orange-direct", "cancelled", "pending", "", "", "not in map"},
	} {
		args := []string{"--from", tt.from, "--to", tt.to}
		if tt.set != "" {
			args = append(args, "--set", tt.set)
		}
		d := decide(t, tt.workflow, tt.body, args...)
		got := strings.TrimSpace(d.Decision + " " + strings.Join(d.by("edge"), " "))
		if d.Decision == "refuse" && strings.Contains(d.Reason, tt.want) {
			got = tt.want
		}
		if got != tt.want || d.Decision == "advance" && d.Counters["crash_count"] != 0 {
			t.Errorf("%s: %s to %s with %q: %s because %q, counters %v; want %s", tt.workflow, tt.from, tt.to, tt.set, got, d.Reason, d.Counters, tt.want)
		}
	}
}

func TestDecideAboutExits(t *testing.T) {
	for _, tt := range []struct {
		from, body, want string
		args             []string
	}{
		{"planning", "## Plan\n\nAPPROACH: a queue\n", "advance working 0", nil},
		{"working", "", "advance stuck 0", []string{"--set", "crash_count=1"}},
		{"agent-review", "## Review\n\nVerdict: FAIL\n", "advance working 0", []string{"--set", "review_round=1"}},
		{"agent-review", "## Review\n\nVerdict: FAIL\n", "advance stuck 0", []string{"--set", "review_round=2"}},
		{"agent-review", "## Handoff\n\nDONE: again\n\n## Review\n\nVerdict: FAIL\n", "crash  1", []string{"--set", "review_round=2", "--stale", "Review"}},
		{"working", "## Handoff\n\nDONE: before\n\n## Review\n\nVerdict: FAIL\n", "crash  1", []string{"--set", "review_round=1", "--stale", "Handoff"}},
		{"clarification", "", "crash  0", nil},
		{"reviewing", "", "crash  0", nil},
		{"stuck", "", "crash  0", nil},
	} {
		d := decide(t, "orange", tt.body, append([]string{"--from", tt.from, "--exit"}, tt.args...)...)
		if got := fmt.Sprint(d.Decision, " ", d.To, " ", d.Counters["crash_count"]); got != tt.want {
			t.Errorf("%s %v: %s because %q, want %s", tt.from, tt.args, got, d.Reason, tt.want)
		}
	}
}

func TestDecideRefusesWhatItCannotUnderstand(t *testing.T) {
	tests := []struct {
		name string
		args []string
		says string
	}{
		{"an unknown workflow", []string{"nope", "--from", "planning", "--to", "working"}, "workflow nope is not known"},
		{"no from", []string{"orange", "--to", "working"}, "--from is missing"},
		{"an unknown from", []string{"orange", "--from", "x", "--to", "working"}, `state "x" is not known: use pending, planning`},
		{"an unknown to", []string{"orange", "--from", "planning", "--to", "x"}, `state "x" is not known: use pending, planning`},
		{"nothing that happens", []string{"orange", "--from", "planning"}, "give one of --to, --exit, --outcome and --column"},
		{"two things that happen", []string{"orange", "--from", "planning", "--to", "working", "--exit"}, "give only one of --to, --exit, --outcome and --column"},
		{"a card and something else", []string{"joan-board", "--from", "board", "--column", "Analyse", "--outcome", "x"}, "give only one of"},
		{"a column nobody knows", []string{"joan-board", "--from", "board", "--column", "Nope"}, `column "Nope" is not known on the board of workflow joan-board: use To Do, Analyse, `},
		{"a tag nobody knows", []string{"joan-board", "--from", "board", "--column", "Analyse", "--tag", "ready", "--tag", "Nope"}, `tag "Nope" is not known on the board of workflow joan-board: use Needs-Clarification, `},
		{"a tag without a column", []string{"joan-board", "--from", "board", "--tag", "Ready"}, "--tag says nothing without --column: name the column that the card is in"},
		{"a column without a board", []string{"orange", "--from", "planning", "--column", "Analyse"}, "workflow orange has no board: leave --column and --tag out"},
		{"a tag without a board", []string{"orange", "--from", "planning", "--to", "working", "--tag", "Ready"}, "workflow orange has no board"},
		{"an unknown actor", []string{"orange", "--from", "planning", "--to", "working", "--actor", "x"}, `actor "x" is not known: use human, engine, tracker, worker, reviewer, fixer`},
		{"an unknown role", []string{"orange", "--from", "planning", "--exit=x"}, `role "x" is not known: use worker, reviewer, fixer`},
		{"an unknown dead role", []string{"orange", "--from", "planning", "--exit", "--dead", "x"}, `role "x" is not known`},
		{"an unknown counter", []string{"orange", "--from", "planning", "--exit", "--set", "x=1"}, `counter "x" is not known: use review_round, crash_count`},
		{"a counter without a number", []string{"orange", "--from", "planning", "--exit", "--set", "crash_count"}, "give a counter and a number"},
		{"a counter below zero", []string{"orange", "--from", "planning", "--exit", "--set", "crash_count=-1"}, "give a counter and a number"},
		{"an unknown section", []string{"orange", "--from", "planning", "--exit", "--stale", "x"}, `section "x" is not known: use Plan, Handoff, Review`},
		{"unknown evidence", []string{"orange", "--from", "planning", "--exit", "--without", "x"}, `evidence "x" is not known: use merged, commits`},
		{"a task file that is not there", []string{"orange", "--from", "planning", "--exit", "--task-file", "nope.md"}, "read the task file"},
		{"an exit before the beginning", []string{"orange", "--from", "new", "--exit"}, "can only be created"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			code, out, errs := orange(t, t.TempDir(), "", append([]string{"workflow", "decide", "--json"}, tt.args...)...)
			if code == 0 || !strings.Contains(errs, tt.says) || strings.Count(errs, "\n") != 1 {
				t.Errorf("exit %d, stderr %q, want one line with %q", code, errs, tt.says)
			}
			var d decided
			if err := json.Unmarshal([]byte(out), &d); err != nil || !strings.Contains(d.Error, tt.says) {
				t.Errorf("stdout %q, want an error with %q", out, tt.says)
			}
		})
	}
}

func TestDecideIgnoresTheCaseOfColumnsAndTags(t *testing.T) {
	d := decide(t, "joan-board", "", "--from", "board", "--column", " analyse", "--tag", "READY", "--tag", "ready")
	if d.To != "architect-plan" || d.Reason != "the card is in Analyse with Ready" {
		t.Errorf("%s to %q because %q", d.Decision, d.To, d.Reason)
	}
}

func TestDecideSaysAReasonOnce(t *testing.T) {
	for _, tt := range []struct {
		args  []string
		first string // line
	}{
		{[]string{"orange", "--from", "stuck", "--to", "reviewing"}, "advance stuck -> reviewing"},
		{[]string{"orange", "--from", "planning", "--to", "working"}, "refuse: "},
		{[]string{"cmat-feature", "--from", "1", "--outcome", "READY_FOR_IMPLEMENTATION"}, "advance architect -> implementer: architect says READY_FOR_IMPLEMENTATION"},
	} {
		code, out, errs := orange(t, t.TempDir(), "", append([]string{"workflow", "decide"}, tt.args...)...)
		first, rest, _ := strings.Cut(out, "\n")
		if code != 0 || !strings.HasPrefix(first, tt.first) || !strings.HasSuffix(tt.first, ": ") && first != tt.first {
			t.Errorf("%v: exit %d: %s%s, want %q", tt.args, code, out, errs, tt.first)
		}
		if strings.HasPrefix(first, "advance") && !strings.Contains(rest, "edge open: taken") {
			t.Errorf("%v does not say how: %s", tt.args, rest)
		}
	}
}

func TestCheckReportsByItsExitCode(t *testing.T) {
	dir := t.TempDir()
	text, _ := builtin.Text("orange")
	files := map[string]string{
		"clean.yaml":  text,
		"unwise.yaml": strings.Replace(text, "when: review_round >= 2", "when: review_round >= 1", 1),
		"broken.yaml": "name: [",
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		arg  string
		code int
		says string
	}{
		{"orange", 0, "clean"}, {"orange-direct", 0, "clean"}, {"clean.yaml", 0, "clean"},
		{"unwise.yaml", 1, "overlap: "}, {"broken.yaml", 2, "fix the YAML"}, {"./nope.yaml", 2, "nope.yaml"}, {"nope", 2, "not known"},
	}
	for _, tt := range tests {
		t.Run(tt.arg, func(t *testing.T) {
			code, out, errs := orange(t, dir, "", "workflow", "check", tt.arg)
			if code != tt.code || !strings.Contains(out+errs, tt.says) {
				t.Errorf("exit %d: %s%s, want %d with %q", code, out, errs, tt.code, tt.says)
			}
			code, out, _ = orange(t, dir, "", "workflow", "check", tt.arg, "--json")
			var answer struct {
				OK       bool
				Findings []struct{ Rule, Message string }
				Error    string
			}
			if err := json.Unmarshal([]byte(out), &answer); err != nil || code != tt.code {
				t.Fatalf("exit %d: %s: %v", code, out, err)
			}
			if answer.OK != (tt.code == 0) || (len(answer.Findings) > 0) != (tt.code == 1) || (answer.Error != "") != (tt.code == 2) {
				t.Errorf("%+v does not fit exit %d", answer, tt.code)
			}
		})
	}
}

func TestTheOtherWorkflowCommands(t *testing.T) {
	dir := t.TempDir()
	tests := []struct {
		args []string
		says []string
	}{
		{[]string{"workflow", "list"}, []string{"orange         built-in  clean", "orange-direct  built-in  clean", "odd            repo      unreadable"}},
		{[]string{"workflow", "list", "--json"}, []string{`"name":"orange"`, `"findings":0`, `"error":"odd.yaml:1:`}},
		{[]string{"workflow", "show", "orange"}, []string{"name: orange\n", "# Plan, implement"}},
		{[]string{"workflow", "show", "orange", "--json"}, []string{`"name":"planning","kind":"agent","role":"worker","wall":"30m0s"`, `"when":"review_round < 2"`}},
		{[]string{"workflow", "graph", "orange"}, []string{"stateDiagram-v2"}},
		{[]string{"workflow", "graph", "orange", "--format", "dot"}, []string{"digraph"}},
		{[]string{"workflow", "graph", "orange", "--format", "svg"}, []string{"<svg", "</svg>"}},
		{[]string{"workflow", "decide", "orange", "--from", "planning", "--exit"}, []string{"crash: the worker ended"}},
		{[]string{"schema", "workflow"}, []string{`"$schema"`, `"queued"`}},
	}
	for _, tt := range tests {
		code, out, errs := orange(t, dir, "", tt.args...)
		for _, says := range tt.says {
			if code != 0 || !strings.Contains(out, says) {
				t.Errorf("%v: exit %d: %s%s, want %q", tt.args, code, out, errs, says)
			}
		}
	}
	if code, _, errs := orange(t, dir, "", "workflow", "graph", "orange", "--format", "png"); code != 2 || !strings.Contains(errs, "use mermaid, svg or dot") {
		t.Errorf("exit %d: %s", code, errs)
	}
	if code, _, errs := orange(t, dir, "", "workflow", "graph", "orange", "--format", "svg", "-o", "o.svg"); code != 0 {
		t.Error(errs)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "o.svg")); err != nil || !bytes.HasPrefix(b, []byte("<svg")) {
		t.Error(err, fmt.Sprintf("%.40s", b))
	}
}

// Advice is printed and fails nothing, unless it is asked to.
func TestAdviceCountsWithStrict(t *testing.T) {
	dir := t.TempDir()
	text, _ := builtin.Text("orange")
	text = strings.Replace(text, "as: resume, by: [human]", "as: resume, by: [human, fixer]", 1)
	if err := os.WriteFile(filepath.Join(dir, "mine.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		flags []string
		code  int
		ok    bool
	}{{nil, 0, true}, {[]string{"--strict"}, 1, false}} {
		code, out, _ := orange(t, dir, "", append([]string{"workflow", "check", "mine.yaml"}, tt.flags...)...)
		if code != tt.code || !strings.Contains(out, ": agent-decides: advice: edge stuck -> working") {
			t.Errorf("%v: %d: %s", tt.flags, code, out)
		}
		_, out, _ = orange(t, dir, "", append([]string{"workflow", "check", "mine.yaml", "--json"}, tt.flags...)...)
		var got struct {
			OK       bool `json:"ok"`
			Findings []struct{ Rule, Level string }
		}
		if err := json.Unmarshal([]byte(out), &got); err != nil || got.OK != tt.ok || len(got.Findings) != 1 || got.Findings[0].Level != "advice" {
			t.Errorf("%v: %v: %s", tt.flags, err, out)
		}
	}
}
