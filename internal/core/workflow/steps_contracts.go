package workflow

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A contract is what one agent needs, writes and may report, as in a file of contracts beside
// workflow templates.
type contract struct {
	agent string

	Description string
	Inputs      struct{ Required []struct{ Pattern string } }
	Outputs     struct {
		RootDocument string `json:"root_document"`
	}
	Statuses struct {
		Success []contractStatus
		Failure []contractStatus
	}
}

type contractStatus struct {
	Code, Description string
	Next              []string `json:"next_agents"`
}

// HasContracts reports whether a text is a file of agent contracts.
func HasContracts(text string) bool {
	agents := false
	for _, m := range objectMembers(text, 0) {
		if m.key == "steps" || m.key == "workflows" {
			return false
		}
		if m.key == "agents" {
			list := objectMembers(m.raw, m.from)
			agents = len(list) > 0 && slices.ContainsFunc(objectMembers(list[0].raw, 0), func(c member) bool { return c.key == "statuses" })
		}
	}
	return agents && json.Valid([]byte(text))
}

// FromContracts converts agent contracts to a step workflow: it begins with the first agent of
// the file and goes where the statuses lead. left are the agents that no status leads to.
func FromContracts(text string) (t Template, left []string, err error) {
	var description string
	var list []contract
	for _, m := range objectMembers(text, 0) {
		switch m.key {
		case "description":
			err = json.Unmarshal([]byte(m.raw), &description)
		case "agents":
			for _, a := range objectMembers(m.raw, m.from) {
				c := contract{agent: a.key}
				if bad := json.Unmarshal([]byte(a.raw), &c); bad != nil {
					return t, nil, fmt.Errorf("the contract of agent %s: %w", a.key, bad)
				}
				list = append(list, c)
			}
		}
		if err != nil {
			return t, nil, fmt.Errorf("%s: %w", m.key, err)
		}
	}
	if len(list) == 0 {
		return t, nil, errors.New("the file has no agents: expected {\"agents\": {\"NAME\": {\"statuses\": ...}}}")
	}
	var steps []string
	for i := range list {
		c := &list[i]
		if !isReached(list, c.agent) {
			left = append(left, c.agent)
			continue
		}
		step, err := c.toStep(list)
		if err != nil {
			return t, nil, err
		}
		steps = append(steps, step)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(`{"description": `+quoteJSON(description)+`, "steps": [`+strings.Join(steps, ", ")+`]}`), "", "  "); err != nil {
		return t, nil, err
	}
	return Template{Text: b.String() + "\n"}, left, nil
}

// isReached reports whether the work can get from the first agent to another.
func isReached(list []contract, agent string) bool {
	open := []string{list[0].agent}
	for at := 0; at < len(open); at++ {
		i := slices.IndexFunc(list, func(c contract) bool { return c.agent == open[at] })
		if i < 0 {
			continue
		}
		for _, s := range list[i].Statuses.Success {
			if next := s.nextAgent(); next != "" && !slices.Contains(open, next) {
				open = append(open, next)
			}
		}
	}
	return slices.Contains(open, agent)
}

// nextAgent returns the next agent, or "" for none.
func (s *contractStatus) nextAgent() string {
	if len(s.Next) == 0 {
		return ""
	}
	return s.Next[0]
}

// toStep returns the contract as a step, in JSON.
func (c *contract) toStep(list []contract) (string, error) {
	if len(c.Statuses.Success)+len(c.Statuses.Failure) == 0 {
		return "", fmt.Errorf("agent %s: statuses has no code: write {\"success\": [{\"code\": CODE, \"next_agents\": [AGENT]}], \"failure\": [{\"code\": CODE}]}", c.agent)
	}
	var codes []string
	for _, s := range c.Statuses.Success {
		if len(s.Next) > 1 {
			return "", fmt.Errorf("agent %s: %s leads to %s, and a code leads to one step: keep one of next_agents", c.agent, s.Code, strings.Join(s.Next, " and "))
		}
		end := `"next_step": ` + quoteJSON(s.nextAgent())
		if s.nextAgent() == "" {
			end = `"next_step": null, "kind": ` + quoteJSON(endsComplete)
		}
		codes = append(codes, quoteJSON(s.Code)+`: {`+end+`, "description": `+quoteJSON(s.Description)+`}`)
	}
	for _, s := range c.Statuses.Failure {
		codes = append(codes, quoteJSON(s.Code)+`: {"next_step": null, "kind": `+quoteJSON(endsHalt)+`, "description": `+quoteJSON(s.Description)+`}`)
	}
	return `{"agent": ` + quoteJSON(c.agent) + `, "description": ` + quoteJSON(c.Description) + `, "input": ` + quoteJSON(c.inputFile(list)) +
		`, "required_output": ` + quoteJSON(c.Outputs.RootDocument) + `, "on_status": {` + strings.Join(codes, ", ") + `}}`, nil
}

// inputFile returns what the agent works from: the output of the step before if the contract
// requires the document of another agent, otherwise the file that it names.
func (c *contract) inputFile(list []contract) string {
	if len(c.Inputs.Required) == 0 {
		return ""
	}
	pattern := c.Inputs.Required[0].Pattern
	for i := range list {
		if document := list[i].Outputs.RootDocument; document != "" && strings.HasSuffix(pattern, "/"+list[i].agent+"/"+document) {
			return "{previous_step}/required_output/" + document
		}
	}
	if slices.ContainsFunc(PromptVariables(pattern), func(name string) bool { return !slices.Contains(inputVariables[:], name) }) {
		return "{previous_step}/required_output/"
	}
	return pattern
}
