package workflow

import (
	"embed"
	"slices"
	"strings"
)

// stepwords are the words for agents of step workflows that bring none of their own.
//
//go:embed stepwords/*.md
var stepwords embed.FS

// generalWords is the prompt of agents without a specific one.
const generalWords = "general"

func wordsOf(name string) (string, bool) {
	b, err := stepwords.ReadFile("stepwords/" + name + ".md")
	return string(b), err == nil
}

// usualPrompt returns the default prompt of a step's agent.
func usualPrompt(agent string, writes bool) string {
	own, ok := wordsOf(agent)
	if !ok || slices.Contains([]string{"beginning", "output", "status"}, agent) {
		own, _ = wordsOf(generalWords)
	}
	beginning, _ := wordsOf("beginning")
	output, _ := wordsOf("output")
	status, _ := wordsOf("status")
	if !writes {
		output = ""
	}
	return strings.Join([]string{beginning, own, output, status}, "\n")
}

// compilePrompts declares the roles and their prompts. A role gets the prompt of its first
// step; a step that needs another one has its own.
func (c *compiler) compilePrompts() {
	for _, agent := range c.f.agentNames() {
		c.d.Roles = append(c.d.Roles, Role{
			Name: agent, Harness: TaskHarness, FallbackAfter: fallbackAfter, Session: PerVisit, Window: agent, Access: "full",
			Protocol: "completion-block", WorkType: agent,
		})
	}
	for i := range c.f.steps {
		s := &c.f.steps[i]
		role, _ := c.d.RoleNamed(s.role)
		name := c.declarePrompt(s)
		if role.Prompt == "" {
			role.Prompt, role.Describe, role.Pos = name, s.describe, s.pos
		}
		if at := slices.IndexFunc(c.d.States, func(st State) bool { return st.Name == s.state }); role.Prompt != name {
			c.d.States[at].Prompt = name
		}
	}
}

// declarePrompt declares the prompt of a step, unless an equal one exists.
func (c *compiler) declarePrompt(s *step) string {
	text, pos := s.promptText()
	var taken []string
	for i := range c.d.Prompts {
		p := &c.d.Prompts[i]
		if p.Text == text && slices.Contains(c.told[s.role], p.Name) {
			return p.Name
		}
		taken = append(taken, p.Name)
	}
	name := uniqueName(s.role, taken)
	c.told[s.role] = append(c.told[s.role], name)
	c.d.Prompts = append(c.d.Prompts, Prompt{Name: name, Text: text, Pos: pos})
	return name
}

// promptText returns the prompt of a step's agent. It always includes how to report.
func (s *step) promptText() (string, Pos) {
	switch {
	case strings.TrimSpace(s.prompt) == "":
		return usualPrompt(s.role, s.output != ""), s.pos
	case slices.ContainsFunc(PromptVariables(s.prompt), func(v string) bool { return v == "expected_statuses" || v == "report" }):
		return s.prompt, s.promptPos
	}
	status, _ := wordsOf("status")
	return strings.TrimRight(s.prompt, "\n") + "\n\n" + status, s.promptPos
}
