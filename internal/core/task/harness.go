package task

import "time"

// A Choice is an agent that may run a role: a harness, and the model and the effort it runs with, "" for its own.
type Choice struct {
	Harness string `json:"harness"`
	Model   string `json:"model,omitempty"`
	Effort  string `json:"effort,omitempty"`
}

// String names the choice as people write it.
func (c Choice) String() string {
	if c.Model == "" {
		return c.Harness
	}
	return c.Harness + ":" + c.Model
}

// A RoleChoice is an agent that a task has for one of its roles. Of several for a role the first is preferred.
type RoleChoice struct {
	Role    string `json:"role"`
	Harness string `json:"harness"`
	Model   string `json:"model,omitempty"`
	Effort  string `json:"effort,omitempty"`
}

// Choice is the agent, whatever its role is.
func (r RoleChoice) Choice() Choice { return Choice{r.Harness, r.Model, r.Effort} }

// A Limit is until when a provider serves an agent no more, by the name of the choice.
type Limit struct {
	Choice string    `json:"choice"`
	Until  time.Time `json:"until"`
}
