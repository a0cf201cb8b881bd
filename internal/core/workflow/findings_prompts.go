package workflow

import (
	"slices"
	"strings"

	"orange/internal/core/task"
	"orange/internal/lazy"
)

var (
	askedStatus  = lazy.NewRegexp(`--status[ =]([a-z][A-Za-z0-9_-]*)`)
	askedVerdict = lazy.NewRegexp(`\borange task verdict (PASS|FAIL)\b`)
	forbidding   = lazy.NewRegexp(`(?i)\b(do not|don't|must not|may not|never)\b`)
)

// An audience is a role that gets a prompt in the states of a role: its own, or the role that
// it stands for.
type audience struct{ prompt, role, in string }

// checkPrompts requires that an agent may make the moves that its prompts ask for.
func (c *checker) checkPrompts() {
	readers := c.d.promptAudiences()
	for i := range c.d.Prompts {
		p := &c.d.Prompts[i]
		c.promptVars(p)
		used := false
		for _, r := range readers {
			if r.prompt == p.Name {
				used = true
				c.promptEdges(p, r)
				c.promptVerdicts(p, r)
			}
		}
		if !used && !OwnMessage(p.Name) {
			c.reportError(RulePromptUnused, p.Pos, "prompt %s is used by no role, state or effect: use it, or drop it", p.Name)
		}
	}
}

// promptVars finds variables of people that the file does not declare: nobody would know that
// they are needed.
func (c *checker) promptVars(p *Prompt) {
	for _, name := range PersonsVars(p.Text) {
		if _, ok := c.d.VarNamed(name); !ok {
			c.addAdvice(RuleVariableUnknown, p.Pos, "prompt %s names {vars.%s}, and vars: does not declare it: add vars: {%s: {describe: ...}}%s",
				p.Name, name, name, suggestSimilar(name, namesOf(c.d.Vars, func(v *Var) string { return v.Name })))
		}
	}
}

func (c *checker) promptEdges(p *Prompt, told audience) {
	role := told.role
	var said []string
	for line := range strings.Lines(p.Text) {
		for _, m := range askedStatus.FindAllStringSubmatchIndex(line, -1) {
			to := line[m[2]:m[3]]
			if forbidding.MatchString(line[:m[0]]) || slices.Contains(said, to) || c.d.mayAsk(told, to) {
				continue
			}
			said = append(said, to)
			c.reportError(RulePromptEdge, p.Pos, "prompt %s tells the %s to set --status %s, and no edge to %s on request is by %s: add the edge, or change the prompt",
				p.Name, role, to, to, role)
		}
	}
}

// promptVerdicts requires that a verdict which a prompt asks an agent to state by command takes
// each edge that requires this verdict of the agent.
func (c *checker) promptVerdicts(p *Prompt, told audience) {
	var said []string
	for _, m := range askedVerdict.FindAllStringSubmatch(p.Text, -1) {
		if slices.Contains(said, m[1]) {
			continue
		}
		said = append(said, m[1])
		found := false
		for i := range c.d.Edges {
			e := &c.d.Edges[i]
			_, asks := c.d.AsksForVerdict(e, m[1])
			if !asks || !e.PermitsActor(task.Actor(told.role)) || !slices.ContainsFunc(e.From, func(from string) bool { return c.d.worksIn(told.in, from) }) {
				continue
			}
			found = true
			if !e.AnswersTo(OnRequest, "") {
				c.reportError(RulePromptEdge, e.Pos, "prompt %s tells the %s to state %s by command, and the edge to %s that asks for it is not taken on request: add request to its on",
					p.Name, told.role, m[1], e.To)
			}
		}
		if !found {
			c.reportError(RulePromptEdge, p.Pos, "prompt %s tells the %s to state %s by command, and no edge by %s asks for that verdict: add the edge, or change the prompt",
				p.Name, told.role, m[1], told.role)
		}
	}
}

// mayAsk reports whether some edge on request leads to a state from one in which the audience
// gets the prompt, and whether the audience may request it.
func (d *Definition) mayAsk(a audience, to string) bool {
	return slices.ContainsFunc(d.Edges, func(e Edge) bool {
		return d.LeadsTo(&e, to) && e.AnswersTo(OnRequest, "") && (e.PermitsActor(task.Actor(a.role)) || e.AsksForConsent(task.Actor(a.role))) &&
			slices.ContainsFunc(e.From, func(from string) bool { return d.worksIn(a.in, from) })
	})
}

// worksIn reports whether a state is the role's. A role that no state names may work anywhere.
func (d *Definition) worksIn(role, state string) bool {
	anywhere := true
	for i := range d.States {
		if d.States[i].Role != role {
			continue
		}
		if d.States[i].Name == state {
			return true
		}
		anywhere = false
	}
	return anywhere
}

// promptAudiences returns who gets which prompt. A role for which another one stands in gets
// that one's prompt while it lives.
func (d *Definition) promptAudiences() []audience {
	var out []audience
	tell := func(prompt, role, in string) {
		if r := (audience{prompt, role, in}); prompt != "" && role != "" && !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	add := func(prompt, role string) { tell(prompt, role, role) }
	for i := range d.Roles {
		r := &d.Roles[i]
		add(r.Prompt, r.Name)
		add(r.RespawnPrompt, r.Name)
		add(r.ReworkPrompt, r.Name)
		tell(r.Prompt, r.StandsInFor, r.Name)
	}
	for i := range d.States {
		s := &d.States[i]
		add(s.Prompt, s.Role)
		add(s.RespawnPrompt, s.Role)
	}
	for _, e := range d.allEffects() {
		add(e.Message, e.Role)
	}
	return out
}

// allEffects returns the effects of every edge and state.
func (d *Definition) allEffects() []Effect {
	var out []Effect
	for i := range d.Edges {
		out = append(out, d.Edges[i].Do...)
	}
	for i := range d.States {
		out = append(out, d.States[i].OnEnter...)
	}
	return out
}
