package workflow_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"orange/internal/core/workflow"
	"orange/internal/core/workflow/builtin"
	"orange/internal/view/drawing"
)

func TestParseSaysWhereAndWhatToDo(t *testing.T) {
	clean := readFile(t, "testdata/clean.yaml")
	tests := []struct {
		name, old, text string // text in place of old; without old it is the whole file
		want            string
	}{
		{"nothing at all", "", "", "t.yaml:1:1: the file is empty"},
		{"a scalar", "", "hello", "t.yaml:1:1: the workflow: expected a mapping, found a string: write key: value pairs"},
		{"two documents", "", clean + "---\n" + clean, "t.yaml:1:1: expected one YAML document"},
		{"broken YAML", "states:\n", "states: {\n", "fix the YAML here"},
		{"a tab for indentation", "  todo:", "\ttodo:", "fix the YAML here"},
		{"binary garbage", "", "\x7fELF\x00\x01\x02", "t.yaml:1:1: this is not a text file"},
		{"bytes that are no UTF-8", "name: t", "name: \xff\xfe", "t.yaml:1:1: this is not a text file"},
		{"a megabyte", "", clean + strings.Repeat("# padding\n", 100_000), "t.yaml:1:1: the file has"},
		{"deep flow nesting", "", strings.Repeat("[", 5000), "t.yaml:1:1: the file nests deeper"},
		{"deep block nesting", "", strings.Repeat("- ", 5000), "t.yaml:1:1: the file nests deeper"},
		{"an anchor", "{kind: halt}", "&h {kind: halt}", "t.yaml:14:9: state hold: anchors and aliases are not supported"},
		{"an alias", "{kind: halt}", "*h", "t.yaml:14:9: state hold: anchors and aliases are not supported"},
		{"a merge key", "{kind: halt}", "{<<: {kind: halt}}", "state hold"},
		{"a key given twice", "  done: {kind: terminal}", "  done: {kind: terminal}\n  done: {kind: human}", "t.yaml:16:3: "},
		{"no name", "name: t\n", "", "t.yaml:1:1: the workflow has no name: add name:"},
		{"a version of the future", "version: 1", "version: 2", "version is 2: this format is version: 1"},
		{"no states", "", "name: t\nversion: 1\n", "the workflow has no states: add states:"},
		{"a list for a mapping", "roles:\n  worker: {prompt: worker}", "roles: [worker]", "t.yaml:3:8: roles: expected a mapping, found a list"},
		{"nothing for a mapping", "roles:\n  worker: {prompt: worker}", "roles:", "roles: expected a mapping, found nothing"},
		{"a mapping for text", "name: t", "name: {a: b}", "t.yaml:1:7: name: expected text, found a mapping: write one value"},
		{"text for a number", "max: 2, per", "max: two, per", `counter crashes: max: expected a whole number, found "two"`},
		{"text for a truth", "hold: {kind: halt}", "hold: {kind: halt, returns: maybe}", `state hold: returns: "maybe" is neither: write true or false`},
		{"text for a time", "wall: 1h", "wall: soon", `state work: deadline.wall: "soon" is not a time: write one such as 30m`},
		{"a time that is none", "wall: 1h", "wall: 0s", `"0s" is not a time`},
		{"a name with a space", "  todo: {", "  to do: {", `t.yaml:12:3: "to do" is not a name: use letters`},
		{"the name of no task", "  todo: {", "  new: {", "choose another"},
		{"an unknown key of the file", "version: 1", "version: 1\nstats: {}", `t.yaml:3:1: a workflow has no key "stats": use name, version`},
		{"an unknown key of a role", "{prompt: worker}", "{promt: worker}", `t.yaml:4:12: a role has no key "promt": use harness`},
		{"an unknown key of a counter", "{max: 2}", "{maximum: 2}", `a counter has no key "maximum": use max`},
		{"an unknown key of a gate", "verdict: PASS", "verdct: PASS", `a gate has no key "verdct": use section`},
		{"an unknown key of a state", "{kind: halt}", "{kind: halt, colour: red}", `a state has no key "colour": use kind`},
		{"an unknown key of a deadline", "idle: 5m", "idel: 5m", `a deadline has no key "idel": use wall or idle`},
		{"an unknown key of an edge", "as: complete", "verb: complete", `t.yaml:19:49: an edge has no key "verb": use from`},
		{"an unknown kind", "{kind: halt}", "{kind: stop}", `"stop" is not known: use queued, agent`},
		{"a state without kind", "{kind: halt}", "{}", "state hold has no kind: add kind:"},
		{"an agent state without role", "role: worker, ", "", "is of kind agent and names no role: add role:"},
		{"an unknown trigger", "on: crash-limit", "on: crash", `on: "crash" is not known: use request`},
		{"an unknown trigger with a value", "on: crash-limit", "on: {mail: x}", `on has no key "mail": use outcome`},
		{"an unknown state to go to", "to: hold, on: crash", "to: held, on: crash", `t.yaml:22:5: edge work -> held: state "held" is not declared: use todo, work, hold or done`},
		{"an unknown state to come from", "from: hold", "from: held", `state "held" is not declared: use todo`},
		{"an unknown state to reopen", "{kind: terminal}", "{kind: terminal, reopen: x}", `reopen: state "x" is not declared`},
		{"an unknown state on the tracker", "prompts:", "tracker: {x: Done}\nprompts:", `tracker: state "x" is not declared: use todo`},
		{"an unknown role", "role: worker, ", "role: writer, ", `state work: role "writer" is not declared: add it to roles:`},
		{"an unknown gate", "gate: passed", "gate: past", `gate "past" is not declared: add it to gates:`},
		{"an unknown counter", "round: +1", "rounds: +1", `counter "rounds" is not declared: add it to counters:`},
		{"an unknown prompt", "{prompt: worker}", "{prompt: boss}", `role worker: prompt "boss" is not declared: add it to prompts:`},
		{"an unknown actor", "by: [worker], gate: passed", "by: [boss], gate: passed", `actor "boss" is not known: use human, engine, tracker or a declared role`},
		{"an unknown effect", "count: {round: +1}", "do: [dance]", `effect "dance" is not known: use acquire_workspace`},
		{"an unknown variable", "orange task", "{colour} orange task", "variable {colour} is not known: use {summary}"},
		{"an unknown name in a guard", "round < 2", "rounds < 2", "compare the declared counters, return_to and children"},
		{"a guard that is no condition", "round < 2", "round + 2", "compare the declared counters"},
		{"a guard that is a program", "round < 2", "len(1..9999999) > round", "has no place in a guard"},
		{"a guard that is a book", "round < 2", "round < 2 or " + strings.Repeat("round < 2 or ", 90) + "true", "guard of"},
		{"an effect without its role", "count: {round: +1}", "do: [spawn_agent]", "effect spawn_agent needs a role: write {spawn_agent: NAME}"},
		{"an effect with too much", "count: {round: +1}", "do: [{spawn_next: worker}]", "effect spawn_next takes nothing"},
		{"an actor as a role", "worker: {prompt: worker}", "worker: {prompt: worker}\n  human: {}", `role "human": this is the name of an actor`},
		{"a counter without bound", "round: {max: 2}", "round: {}", "counter round: give max:"},
		{"a counter that falls", "round: +1", "round: -1", "a counter rises (+1) or is set (0)"},
		{"two counters of crashes", "round: {max: 2}", "round: {max: 2, counts: crashes}", "keep one"},
		{"a gate of nothing", "gates:\n", "gates:\n  none: {fresh: off}\n", "gate none: give one of section:, evidence:, file:, children: and check:"},
		{"an edge from nowhere", "from: hold, ", "", "an edge needs from: and to:"},
		{"an edge from a state twice", "from: hold", "from: [hold, hold]", `state "hold" is given twice: keep one`},
		{"a beginning that is not created", "on: create, ", "", "from: new and on: create belong together"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := tt.text
			if tt.old != "" {
				text = strings.Replace(clean, tt.old, tt.text, 1)
				if text == clean {
					t.Fatalf("%q is not in the file", tt.old)
				}
			}
			_, err := workflow.Parse("t.yaml", text)
			if err == nil {
				t.Fatal("it is read")
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %s\nwant %s", err, tt.want)
			}
			wellFormed(t, err)
		})
	}
}

func TestParseListsEveryUnknownName(t *testing.T) {
	clean := readFile(t, "testdata/clean.yaml")
	text := strings.NewReplacer("gate: passed", "gate: past", "to: hold, on: crash", "to: held, on: crash").Replace(clean)
	_, err := workflow.Parse("t.yaml", text)
	if err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("want two lines, got %v", err)
	}
}

var problemLine = regexp.MustCompile(`^t\.yaml:[1-9][0-9]*:[1-9][0-9]*: .+$`)

// wellFormed wants one line for each problem, with its place.
func wellFormed(t testing.TB, err error) {
	t.Helper()
	for line := range strings.SplitSeq(err.Error(), "\n") {
		if !problemLine.MatchString(line) {
			t.Errorf("not file:line:col: what: %q", line)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range builtin.Names() {
		text, _ := builtin.Text(name)
		f.Add(text)
	}
	files, _ := filepath.Glob("testdata/check/*.yaml")
	for _, path := range append(files, "testdata/clean.yaml") {
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(b))
	}
	for _, text := range []string{"", "a: b: c", "&a *a", "- - - x", "{{{", "? a\n: b", "name: |\n", "!!map {a: b}", "%YAML 1.2\n---\n", "a: 'b", "\"\\", "...", "a: >-2\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := workflow.Parse("t.yaml", text)
		if err != nil {
			wellFormed(t, err)
			return
		}
		for _, found := range d.Check() {
			if !problemLine.MatchString(found.String()) {
				t.Errorf("not file:line:col: rule: what: %q", found)
			}
		}
		if drawing.RenderMermaid(d) == "" || drawing.RenderDOT(d) == "" || drawing.RenderSVG(d) == "" {
			t.Error("no drawing")
		}

	})
}

// A word that is nearly right is proposed, in every list of words that is closed.
func TestParseProposesTheWordThatIsMeant(t *testing.T) {
	clean := readFile(t, "testdata/clean.yaml")
	joan, _ := builtin.Text("joan-board")
	cmat, _ := builtin.Text("cmat-feature")
	for _, tt := range []struct{ name, file, text, old, mistake, meant string }{
		{"a state", "t.yaml", clean, "from: hold, to: work", "from: hold, to: wrok", "work"},
		{"a state to come from", "t.yaml", clean, "{from: hold", "{from: hodl", "hold"},
		{"a role", "t.yaml", clean, "role: worker", "role: workr", "worker"},
		{"an actor", "t.yaml", clean, "by: [worker], gate: passed", "by: [Worker], gate: passed", "worker"},
		{"a person", "t.yaml", clean, "to: todo, on: create, by: [human]", "to: todo, on: create, by: [humen]", "human"},
		{"a gate", "t.yaml", clean, "gate: passed", "gate: pased", "passed"},
		{"a counter", "t.yaml", clean, "count: {round: +1}", "count: {rounds: +1}", "round"},
		{"a counter in a guard", "t.yaml", clean, "when: round < 2", "when: rond < 2", "round"},
		{"a prompt", "t.yaml", clean, "{prompt: worker}", "{prompt: wroker}", "worker"},
		{"a key of the file", "t.yaml", clean, "prompts:", "promts:", "prompts"},
		{"a key of a state", "t.yaml", clean, "deadline:", "dedline:", "deadline"},
		{"a key of an edge", "t.yaml", clean, "gate: passed", "gates: passed", "gate"},
		{"a kind", "t.yaml", clean, "kind: halt", "kind: halted", "halt"},
		{"a trigger", "t.yaml", clean, "on: crash-limit", "on: crash_limit", "crash-limit"},
		{"a variable", "t.yaml", clean, "    Do NOT", "    {sumary}\n    Do NOT", "summary"},
		{"an effect", "j.yaml", joan, "do: [apply_actions]", "do: [aply_actions]", "apply_actions"},
		{"a tag", "j.yaml", joan, "tags: [Invoke-Architect]", "tags: [Invoke-Architekt]", "Invoke-Architect"},
		{"a column", "j.yaml", joan, "column: Review, tags: [Inv", "column: Reveiw, tags: [Inv", "Review"},
		{"a step", "c.json", cmat, `"next_step": "implementer"`, `"next_step": "implementor"`, "implementer"},
		{"a key of a step", "c.json", cmat, `"on_status"`, `"on_statu"`, "on_status"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := strings.Replace(tt.text, tt.old, tt.mistake, 1)
			_, err := workflow.Parse(tt.file, text)
			if text == tt.text || err == nil || !strings.Contains(err.Error(), "(did you mean "+tt.meant+"?)") {
				t.Errorf("got %v", err)
			}
		})
	}
	_, err := workflow.Parse("t.yaml", strings.Replace(clean, "role: worker", "role: somebody", 1))
	if err == nil || strings.Contains(err.Error(), "did you mean") {
		t.Errorf("another word is proposed for one that is like none: %v", err)
	}
}

func TestTimesMayHaveDays(t *testing.T) {
	clean := readFile(t, "testdata/clean.yaml")
	for text, want := range map[string]time.Duration{"2d": 48 * time.Hour, "1d12h30m": 36*time.Hour + 30*time.Minute, "0.5d": 12 * time.Hour, "90m": 90 * time.Minute} {
		d, err := workflow.Parse("t.yaml", strings.Replace(clean, "wall: 1h", "wall: "+text, 1))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if s, _ := d.StateNamed("work"); s.Wall != want {
			t.Errorf("%s is %s", text, s.Wall)
		}
	}
	for _, text := range []string{"d", "-1d", "1d-2h", "2days", "1e3d", "99999d", "1h2d", "0d"} {
		if _, err := workflow.Parse("t.yaml", strings.Replace(clean, "wall: 1h", "wall: "+text, 1)); err == nil || !strings.Contains(err.Error(), "is not a time") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
