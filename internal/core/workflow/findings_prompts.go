package workflow

import (
	"regexp"
	"slices"
	"strings"

	"orange/internal/core/task"
)

var (
	askedStatus = regexp.MustCompile(`--status[ =]([a-z][A-Za-z0-9_-]*)`)
	forbidding  = regexp.MustCompile(`(?i)\b(do not|don't|must not|may not|never)\b`)
)

// An audience is a role that is told a prompt.
type audience struct{ prompt, role string }

// prompts makes sure that whoever is told to make a move may make it.
func (c *checker) prompts() {
	readers := c.d.audiences()
	for i := range c.d.Prompts {
		p := &c.d.Prompts[i]
		used := false
		for _, r := range readers {
			if r.prompt == p.Name {
				used = true
				c.promptEdges(p, r.role)
			}
		}
		if !used {
			c.report(RulePromptUnused, p.Pos, "prompt %s is used by no role, state or effect: use it, or drop it", p.Name)
		}
	}
}

func (c *checker) promptEdges(p *Prompt, role string) {
	var told []string
	for line := range strings.Lines(p.Text) {
		for _, m := range askedStatus.FindAllStringSubmatchIndex(line, -1) {
			to := line[m[2]:m[3]]
			if forbidding.MatchString(line[:m[0]]) || slices.Contains(told, to) || c.d.mayAsk(role, to) {
				continue
			}
			told = append(told, to)
			c.report(RulePromptEdge, p.Pos, "prompt %s tells the %s to set --status %s, and no edge to %s on request is by %s: add the edge, or change the prompt",
				p.Name, role, to, to, role)
		}
	}
}

// mayAsk says whether some edge on request leads to a state from one in which the role
// works, and is the role's to ask for.
func (d *Definition) mayAsk(role, to string) bool {
	return slices.ContainsFunc(d.Edges, func(e Edge) bool {
		return e.To == to && e.Answers(OnRequest, "") && (e.Permits(task.Actor(role)) || e.Asks(task.Actor(role))) &&
			slices.ContainsFunc(e.From, func(from string) bool { return d.worksIn(role, from) })
	})
}

// worksIn says whether a state is the role's, or that of one who stands in for it. A
// role that no state names may be told anything anywhere.
func (d *Definition) worksIn(role, state string) bool {
	anywhere := true
	for i := range d.States {
		s := &d.States[i]
		own, _ := d.Role(s.Role)
		mine := s.Role == role || own != nil && own.StandsInFor == role
		if mine && s.Name == state {
			return true
		}
		anywhere = anywhere && !mine
	}
	return anywhere
}

// audiences lists who is told what. A role that another one stands in for is told that
// one's prompt while it lives.
func (d *Definition) audiences() []audience {
	var out []audience
	add := func(prompt, role string) {
		if r := (audience{prompt, role}); prompt != "" && role != "" && !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	for i := range d.Roles {
		r := &d.Roles[i]
		add(r.Prompt, r.Name)
		add(r.RespawnPrompt, r.Name)
		add(r.Prompt, r.StandsInFor)
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

// allEffects lists the effects of every edge and state.
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
