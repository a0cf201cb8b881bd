package workflow

import (
	"slices"
	"strings"
)

// The protocols by which agents report.
const (
	workResult      = "work-result"
	completionBlock = "completion-block"
	workerResult    = "worker-result"
)

// checkOutcomes requires that agents can report the codes for which edges wait.
func (c *checker) checkOutcomes() {
	for i := range c.d.Edges {
		e := &c.d.Edges[i]
		for _, t := range e.On {
			if t.Kind != OnOutcome && t.Kind != OnConsult {
				continue
			}
			if reporters := c.reportingRoles(e); len(reporters) > 0 {
				c.checkReportable(e, t, reporters)
			}
		}
	}
}

// reportingRoles returns the roles whose reports take an edge on an outcome.
func (c *checker) reportingRoles(e *Edge) []*Role {
	var out []*Role
	add := func(name string) {
		if r, ok := c.d.RoleNamed(name); ok && !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	for _, a := range slices.Concat(e.By, e.Confirm) {
		add(string(a))
	}
	for _, from := range e.From {
		if s, ok := c.d.StateNamed(from); ok && len(e.By)+len(e.Confirm) == 0 {
			add(s.Role)
		}
	}
	return out
}

func (c *checker) checkReportable(e *Edge, t Trigger, reporters []*Role) {
	var cannot, untold []string // roles that cannot report it, and roles that are not told how
	for _, r := range reporters {
		switch {
		case c.canSay(r, t):
			return
		case r.Protocol == "":
			untold = append(untold, r.Name)
		default:
			cannot = append(cannot, r.Name+" ("+r.Protocol+")")
		}
	}
	what := "the code " + t.Value
	if t.Kind == OnConsult {
		what = "a question to the " + t.Value
	}
	if len(untold) > 0 {
		c.addAdvice(RuleOutcomeCode, e.Pos, "edge %s waits for %s, and the %s has no protocol to say it with: add protocol: to the role, or name orange task report in its prompt",
			e.edgeTitle(), what, orList(untold))
		return
	}
	c.reportError(RuleOutcomeCode, e.Pos, "edge %s waits for %s, which the %s cannot say: %s", e.edgeTitle(), what, orList(cannot), sayInstead(reporters[0], t))
}

// canSay reports whether an agent of the role can report what the trigger waits for.
func (c *checker) canSay(r *Role, t Trigger) bool {
	if t.Kind == OnConsult {
		return r.Protocol == workerResult
	}
	switch r.Protocol {
	case workResult:
		return t.Value == "PASSED" || t.Value == "FAILED"
	case completionBlock:
		return isStatusCode(t.Value)
	case workerResult:
		return t.Value == "SUCCESS" || t.Value == "FAILURE" || c.promptContains(r.Name, "result_type") && c.promptContains(r.Name, t.Value)
	}
	return c.promptContains(r.Name, "orange task report")
}

func sayInstead(r *Role, t Trigger) string {
	switch {
	case t.Kind == OnConsult:
		return "only protocol: worker-result asks other roles"
	case r.Protocol == workResult:
		return "use passed or failed, or another protocol"
	case r.Protocol == workerResult:
		return "use success or failure, or name it as a result_type in the prompt"
	}
	return "use letters, digits, dash, underscore and dot, beginning with a letter"
}

// promptContains reports whether a prompt of the role contains the words, ignoring case.
func (c *checker) promptContains(role, words string) bool {
	words = strings.ToLower(words)
	return slices.ContainsFunc(c.promptsOf(role), func(text string) bool { return strings.Contains(strings.ToLower(text), words) })
}

// promptsOf returns the prompts of the agents of a role.
func (c *checker) promptsOf(role string) []string {
	if c.told == nil {
		c.told = map[string][]string{}
		for _, a := range c.d.promptAudiences() {
			if p, ok := c.d.PromptNamed(a.prompt); ok && !slices.Contains(c.told[a.role], p.Text) {
				c.told[a.role] = append(c.told[a.role], p.Text)
			}
		}
		for i := range c.d.Roles {
			for j := range c.d.Prompts {
				if p := &c.d.Prompts[j]; OwnMessage(p.Name) {
					c.told[c.d.Roles[i].Name] = append(c.told[c.d.Roles[i].Name], p.Text)
				}
			}
		}
	}
	return c.told[role]
}

// agentsOf returns the roles among those that may take or request an edge.
func (d *Definition) agentsOf(e *Edge) []string {
	var out []string
	for _, a := range slices.Concat(e.By, e.Confirm) {
		if _, ok := d.RoleNamed(string(a)); ok && !slices.Contains(out, string(a)) {
			out = append(out, string(a))
		}
	}
	return out
}

// onWord reports whether the edge responds to an agent's report about its work.
func (e *Edge) onWord() bool {
	return e.hasTrigger(OnOutcome) || e.hasTrigger(OnConsult) || e.hasTrigger(OnUnexpected)
}

// evidenceWriters returns the roles whose agents can provide what an edge out of a state
// requires: those that it names, and the state's own if the agent only has to end or to report.
func (d *Definition) evidenceWriters(e *Edge, from string) []string {
	out := d.agentsOf(e)
	s, ok := d.StateNamed(from)
	if ok && s.Role != "" && (e.hasTrigger(OnExit) || e.onWord()) && len(e.By)+len(e.Confirm) == 0 {
		out = append(out, s.Role)
	}
	return out
}
