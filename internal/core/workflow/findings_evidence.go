package workflow

import (
	"regexp"
	"slices"
	"strings"

	"orange/internal/core/task"
	"orange/internal/lazy"
)

// checkEvidence requires that prompts tell agents what gates require of them, and that no agent
// judges its own work.
func (c *checker) checkEvidence() {
	for i := range c.d.Edges {
		e := &c.d.Edges[i]
		for _, from := range e.From {
			writers := c.d.evidenceWriters(e, from)
			if len(writers) == 0 {
				continue
			}
			for _, g := range e.gates {
				if gate := &c.d.Gates[g]; gate.Section != "" {
					c.checkGatePrompt(e, gate, writers)
				}
			}
			c.ownWork(e, from, writers)
		}
	}
}

// checkGatePrompt requires that a prompt of one of the roles names the section, and each label.
func (c *checker) checkGatePrompt(e *Edge, g *Gate, roles []string) {
	if slices.ContainsFunc(c.found, func(f Finding) bool { return f.Rule == RuleGateUntold && f.Pos == g.Pos }) {
		return // one finding is enough: several edges have the gate
	}
	mentions := func(pattern *regexp.Regexp) bool {
		return slices.ContainsFunc(roles, func(r string) bool { return slices.ContainsFunc(c.promptsOf(r), pattern.MatchString) })
	}
	if g.Verdict != "" && e.AnswersTo(OnRequest, "") && !c.writesOther(g, roles) {
		return // a command, which every prompt names, states the verdict and writes the section
	}
	if !mentions(sectionPattern(g.Section)) {
		c.addAdvice(RuleGateUntold, g.Pos, "gate %s asks the %s for ## %s, and no prompt of the role mentions that section: name it in the prompt, spelled like this",
			g.Name, orList(roles), g.Section)
		return
	}
	if g.Verdict != "" {
		return
	}
	var missing []string
	for _, label := range g.AnyOf {
		if !mentions(regexp.MustCompile(`(^|[^\pL\pN_-])` + regexp.QuoteMeta(label) + `($|[^\pL\pN_-])`)) {
			missing = append(missing, label+":")
		}
	}
	if len(missing) > 0 {
		c.addAdvice(RuleGateUntold, g.Pos, "gate %s asks the %s for %s in ## %s, and no prompt of the role mentions it: name it in the prompt, or drop the label",
			g.Name, orList(roles), orList(missing), g.Section)
	}
}

// sectionPattern matches a section where a text names it as one: as a heading of a section (one
// # is the title of the prompt), in quotes, or next to the word section.
func sectionPattern(section string) *regexp.Regexp {
	name := `\s*` + strings.Join(quoteAll(strings.Fields(section)), `\s+`)
	return regexp.MustCompile("##+" + name + `($|[^\pL\pN_-])` +
		"|[\"'`*\u201c]" + name + "[\"'`*\u201d]" +
		`|(?i:\b(sections?|headings?)( called| named)?):?` + name + `($|[^\pL\pN_-])` +
		`|(^|[^\pL\pN_-])` + name + `\s+(?i:(section|heading)\b|(in|of|into|to) TASK\.md)`)
}

func quoteAll(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = regexp.QuoteMeta(w)
	}
	return out
}

var toldToWrite = lazy.NewRegexp(`(?i)\b(?:write|add|put|fill|rewrite|state)\b[^#\n]*##+ *([^\n]*)`)

// writesOther reports whether the prompts of the roles name a section to write, and never the
// one of the gate.
func (c *checker) writesOther(g *Gate, roles []string) bool {
	for _, r := range roles {
		for _, text := range c.promptsOf(r) {
			if sectionPattern(g.Section).MatchString(text) {
				return false
			}
		}
	}
	return slices.ContainsFunc(roles, func(r string) bool {
		return slices.ContainsFunc(c.promptsOf(r), toldToWrite.MatchString)
	})
}

// ownWork finds roles that give a verdict on their own work.
func (c *checker) ownWork(e *Edge, from string, judges []string) {
	if !slices.ContainsFunc(e.gates, func(g int) bool { return c.d.Gates[g].Verdict != "" }) {
		return
	}
	authors := c.d.workAuthors(from)
	for _, judge := range judges {
		switch {
		case slices.ContainsFunc(authors, func(a string) bool { return a == judge || c.d.standIns(a, judge) }):
			c.addAdvice(RuleJudgesOwnWork, e.Pos, "edge %s asks for a verdict, and the %s, which may give it, is the author of what is judged: leave it out of by:, or let another role judge",
				from+" -> "+e.To, judge)
		case slices.Contains(e.By, task.Actor(judge)) && c.d.handsOver(from, judge):
			c.addAdvice(RuleJudgesOwnWork, e.Pos, "edge %s asks for a verdict of the %s, which hands over its own work in %s: let another role judge, in a state of its own",
				from+" -> "+e.To, judge, from)
		}
	}
}

// standIns reports whether one of two roles stands in for the other.
func (d *Definition) standIns(a, b string) bool {
	x, okX := d.RoleNamed(a)
	y, okY := d.RoleNamed(b)
	return okX && okY && (x.StandsInFor == b || y.StandsInFor == a)
}

// workAuthors returns the roles whose work a task brings to a state: those of the states before
// it. States in which a verdict is given, or a person acts, add nothing to the work.
func (d *Definition) workAuthors(state string) []string {
	var out []string
	seen := map[string]bool{state: true}
	for queue := []string{state}; len(queue) > 0; queue = queue[1:] {
		for _, name := range d.sources[queue[0]] {
			s, ok := d.StateNamed(name)
			if !ok || seen[name] {
				continue
			}
			seen[name] = true
			switch {
			case s.Kind == Halt && s.Role == "" || s.Kind == Terminal:
			case s.Role == "" || s.Kind == CheckDo || s.Kind == Waiting || s.Kind == HumanDo || s.Kind == Queued || d.onlyJudges(s):
				queue = append(queue, name)
			case d.makesSomething(s) && !slices.Contains(out, s.Role):
				out = append(out, s.Role)
			}
		}
	}
	return out
}

// onlyJudges reports whether the agent of a state gives verdicts there and does nothing else.
func (d *Definition) onlyJudges(s *State) bool {
	if s.Kind != Agent || d.handsOver(s.Name, s.Role) {
		return false
	}
	return slices.ContainsFunc(d.edgesFrom[s.Name], func(i int) bool {
		e := &d.Edges[i]
		return slices.ContainsFunc(e.gates, func(g int) bool { return d.Gates[g].Verdict != "" }) && slices.Contains(d.evidenceWriters(e, s.Name), s.Role)
	})
}

// handsOver reports whether the role leaves the state by an edge that requires its commits.
func (d *Definition) handsOver(state, role string) bool {
	return slices.ContainsFunc(d.edgesFrom[state], func(i int) bool {
		e := &d.Edges[i]
		return slices.ContainsFunc(e.gates, func(g int) bool { return d.Gates[g].HandsOver() }) && slices.Contains(d.evidenceWriters(e, state), role)
	})
}

// makesSomething reports whether the agent of a state can change files, or writes a text that a
// gate requires.
func (d *Definition) makesSomething(s *State) bool {
	if r, ok := d.RoleNamed(s.Role); ok && r.Access == "full" {
		return true
	}
	return slices.ContainsFunc(d.edgesFrom[s.Name], func(i int) bool {
		e := &d.Edges[i]
		return slices.ContainsFunc(e.gates, func(g int) bool { return d.Gates[g].Section != "" && d.Gates[g].Verdict == "" }) &&
			slices.Contains(d.evidenceWriters(e, s.Name), s.Role)
	})
}
