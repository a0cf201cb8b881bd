package workflow

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"orange/internal/core/task"
	"orange/internal/lazy"
	"orange/internal/view/humanize"
)

// buildIndex builds the lookup tables for decisions.
func (d *Definition) buildIndex() {
	for i := range d.Edges {
		d.Edges[i].number = i + 1
	}
	d.indexEdges()
	d.buildUnchecked()
}

func (d *Definition) indexEdges() {
	d.stateIndex = make(map[string]int, len(d.States))
	for i := range d.States {
		d.stateIndex[d.States[i].Name] = i
	}
	d.edgesFrom = make(map[string][]int, len(d.States)+1)
	for i := range d.Edges {
		e := &d.Edges[i]
		for _, from := range e.From {
			d.edgesFrom[from] = append(d.edgesFrom[from], i)
		}
		e.gates = nil
		for _, name := range e.Gates {
			if at := slices.IndexFunc(d.Gates, func(g Gate) bool { return g.Name == name }); at >= 0 {
				e.gates = append(e.gates, at)
			}
		}
	}
	d.indexSources()
	d.indexMerges()
	for i := range d.Gates {
		d.Gates[i].title = "## " + d.Gates[i].Section
		if g := &d.Gates[i]; g.Fresh == FreshVisit && !slices.Contains(d.visitGates, g.Section) {
			d.visitGates = append(d.visitGates, g.Section)
		}
	}
}

func (d *Definition) indexSources() {
	d.sources = make(map[string][]string, len(d.States))
	for i := range d.States {
		name := d.States[i].Name
		for _, to := range d.nextStates(name) {
			if have := d.sources[to]; len(have) == 0 || have[len(have)-1] != name {
				d.sources[to] = append(have, name)
			}
		}
	}
}

// nameResolver collects errors about names that are used and not declared.
type nameResolver struct {
	d    *Definition
	errs []error
}

func (n *nameResolver) requireThat(ok bool, pos Pos, format string, args ...any) {
	if !ok {
		n.errs = append(n.errs, &Error{File: cmp.Or(pos.File, n.d.File), Pos: pos, What: humanize.OneLine(fmt.Sprintf(format, args...))})
	}
}

// resolveNames finds every name that is used and not declared.
func (d *Definition) resolveNames() []error {
	n := &nameResolver{d: d}
	for i := range d.Roles {
		n.checkRole(&d.Roles[i])
	}
	for i := range d.States {
		n.checkState(&d.States[i])
	}
	for i := range d.Edges {
		n.checkEdge(&d.Edges[i])
	}
	for i := range d.Prompts {
		n.promptVariables(&d.Prompts[i])
	}
	for i := range d.Gates {
		n.checkGate(&d.Gates[i])
	}
	n.checkBoard()
	for _, p := range d.Projections {
		n.requireThat(d.hasState(p.State), p.Pos, "tracker: state %q is not declared: use %s%s", p.State, d.stateNames(), d.similarState(p.State))
	}
	return n.errs
}

func (n *nameResolver) checkRole(r *Role) {
	reserved := r.Name == string(task.Human) || r.Name == string(task.Engine) || r.Name == string(task.Tracker)
	n.requireThat(r.Name != CheckRole || !n.d.HasCheckStates(), r.Pos, "role %q: this is the name of the role that runs checks: choose another", r.Name)
	n.requireThat(!reserved, r.Pos, "role %q: this is the name of an actor that is not an agent: choose another", r.Name)
	n.checkPrompt(r.Prompt, r.Pos, "role "+r.Name)
	n.checkPrompt(r.RespawnPrompt, r.Pos, "role "+r.Name)
	n.checkPrompt(r.ReworkPrompt, r.Pos, "role "+r.Name)
	n.roleName(r.StandsInFor, r.Pos, "role "+r.Name+": stands_in_for")
	n.checkVariables(r.Window, r.Pos, "role "+r.Name+": window")
	n.boardTag(r.Flag, r.Pos, "role "+r.Name+": flag")
	n.boardTag(r.Claim, r.Pos, "role "+r.Name+": claim")
}

func (n *nameResolver) checkState(s *State) {
	what := "state " + s.Name
	if s.Kind != CheckDo {
		n.roleName(s.Role, s.Pos, what)
	}
	n.checkPrompt(s.Prompt, s.Pos, what)
	n.checkPrompt(s.RespawnPrompt, s.Pos, what)
	n.checkEffects(s.OnEnter, s.Pos, what)
	n.requireThat(s.Kind != Agent || s.Role != "", s.Pos, "%s is of kind agent and names no role: add role:", what)
	n.requireThat(s.Reopen == "" || n.d.hasState(s.Reopen), s.Pos, "%s: reopen: state %q is not declared: use %s%s", what, s.Reopen, n.d.stateNames(), n.d.similarState(s.Reopen))
}

func (n *nameResolver) checkEdge(e *Edge) {
	what := fmt.Sprintf("edge %s -> %s", strings.Join(e.From, ", "), e.To)
	for i, from := range e.From {
		n.requireThat(!slices.Contains(e.From[:i], from), e.Pos, "%s: state %q is given twice: keep one", what, from)
		n.requireThat(from == New || n.d.hasState(from), e.Pos, "%s: state %q is not declared: use %s%s", what, from, n.d.stateNames(), n.d.similarState(from))
		n.requireThat((from == New) == e.AnswersTo(OnCreate, ""), e.Pos, "%s: from: new and on: create belong together", what)
	}
	n.requireThat(n.d.hasState(e.To), e.Pos, "%s: state %q is not declared: use %s%s", what, e.To, n.d.stateNames(), n.d.similarState(e.To))
	for _, a := range append(slices.Clone(e.By), e.Confirm...) {
		n.requireThat(n.d.KnowsActor(a), e.Pos, "%s: actor %q is not known: use human, engine, tracker or a declared role%s", what, a, n.d.similarActor(a))
	}
	for _, g := range e.Gates {
		_, ok := n.d.GateNamed(g)
		n.requireThat(ok, e.Pos, "%s: gate %q is not declared: add it to gates:%s", what, g, suggestSimilar(g, n.d.gateList()))
	}
	for _, c := range e.Count {
		_, ok := n.d.CounterNamed(c.Counter)
		n.requireThat(ok, e.Pos, "%s: counter %q is not declared: add it to counters:%s", what, c.Counter, suggestSimilar(c.Counter, n.d.counterList()))
	}
	n.checkEffects(e.Do, e.Pos, what)
	n.checkTriggers(e, what)
}

func (n *nameResolver) checkTriggers(e *Edge, what string) {
	for _, tr := range e.On {
		switch tr.Kind {
		case OnBoard:
			n.checkCardTrigger(tr.Board, e.Pos, what)
		case OnConsult:
			n.roleName(tr.Value, e.Pos, what+": consult")
		}
	}
	for _, from := range e.From {
		n.requireThat(!e.Hold || from == e.To, e.Pos, "%s: hold: a task that is held stays where it is: give the same state as to:", what)
	}
}

func (n *nameResolver) checkEffects(list []Effect, pos Pos, what string) {
	for _, e := range list {
		n.roleName(e.Role, pos, what+": effect "+e.Name)
		n.checkPrompt(e.Message, pos, what+": effect "+e.Name)
		n.checkEffectWord(e, pos, what+": effect "+e.Name)
	}
}

// checkEffectWord requires that the board has the tag or column that an effect names.
func (n *nameResolver) checkEffectWord(e Effect, pos Pos, what string) {
	info, _ := EffectNamed(e.Name)
	switch info.TakesArg {
	case "tag":
		n.boardTag(e.Word, pos, what)
	case "column":
		_, ok := n.d.Board.ColumnNamed(e.Word)
		n.requireThat(ok, pos, "%s: column %q is not declared: add it to board: columns%s", what, e.Word, suggestSimilar(e.Word, n.d.Board.columnList()))
	}
}

func (n *nameResolver) roleName(name string, pos Pos, what string) {
	n.requireThat(name == "" || n.d.DeclaresRole(name), pos, "%s: role %q is not declared: add it to roles:%s", what, name, suggestSimilar(name, n.d.roleList()))
}

func (n *nameResolver) checkPrompt(name string, pos Pos, what string) {
	_, ok := n.d.PromptNamed(name)
	n.requireThat(name == "" || ok, pos, "%s: prompt %q is not declared: add it to prompts:%s", what, name, suggestSimilar(name, n.d.promptList()))
}

func (n *nameResolver) promptVariables(p *Prompt) { n.checkVariables(p.Text, p.Pos, "prompt "+p.Name) }

func (n *nameResolver) checkVariables(text string, pos Pos, what string) {
	for _, name := range PromptVariables(text) {
		_, counter := n.d.CounterNamed(name)
		n.requireThat(counter || slices.Contains(promptVariables[:], name), pos,
			"%s: variable {%s} is not known: use {%s} or a counter%s", what, name,
			strings.Join(promptVariables[:], "}, {"), suggestSimilar(name, slices.Concat(promptVariables[:], n.d.counterList())))
	}
}

// promptVariables are the values that every prompt may use, besides counters.
var promptVariables = [...]string{"summary", "project", "branch", "status", "workspace", "return_to", "task", "default_branch", "delivery", "pr", "pull_request",
	"requirements", "context", "why",
	"task_id", "agent", "mode", "expected_statuses", "task_description", "input_instruction", "required_output_filename",
	"enhancement_name", "enhancement_dir", "handoff", "question", "advice", "card", "report", "nonce", "last_report", "instructions"}

var variablePattern = lazy.NewRegexp(`\{([a-z][a-z0-9_]*)\}`)

var personsPattern = lazy.NewRegexp(`\{vars\.([A-Za-z][A-Za-z0-9_-]{0,63})\}`)

// PersonsVars returns the NAMEs of {vars.NAME} in a prompt, in order of first use.
func PersonsVars(text string) []string {
	var out []string
	for _, m := range personsPattern.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(out, m[1]) {
			out = append(out, m[1])
		}
	}
	return out
}

// PromptVariables returns the {names} in a prompt, in order of first use.
func PromptVariables(text string) []string {
	var out []string
	for _, m := range variablePattern.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(out, m[1]) {
			out = append(out, m[1])
		}
	}
	return out
}

func (d *Definition) hasState(name string) bool { _, ok := d.stateIndex[name]; return ok }

func (d *Definition) stateNames() string { return orList(d.stateList()) }

func (d *Definition) similarState(name string) string { return suggestSimilar(name, d.stateList()) }

func (d *Definition) similarActor(a task.Actor) string {
	known := append(d.roleList(), string(task.Human), string(task.Engine), string(task.Tracker))
	return suggestSimilar(string(a), known)
}
