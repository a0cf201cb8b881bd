package task

import (
	"cmp"
	"time"
)

// A Choice is an agent that may run a role: a harness, and its model and effort, "" for the harness's default.
type Choice struct {
	Harness string `json:"harness"`
	Model   string `json:"model,omitempty"`
	Effort  string `json:"effort,omitempty"`
}

// String returns the choice as people write it.
func (c Choice) String() string {
	if c.Model == "" {
		return c.Harness
	}
	return c.Harness + ":" + c.Model
}

// OwnChoice returns the agent of roles whose harness is the task's.
func (s *Setup) OwnChoice() Choice { return Choice{s.Harness, s.Model, s.Effort} }

// ReviewChoice returns the agent of roles whose harness is the task's for reviews.
func (s *Setup) ReviewChoice() Choice { return Choice{s.ReviewHarness, s.ReviewModel, s.ReviewEffort} }

// Resolve returns a choice of one of the task's two harnesses: that harness, with the model and the effort that c names,
// else those of the task.
func (c Choice) Resolve(own Choice) Choice {
	return Choice{own.Harness, cmp.Or(c.Model, own.Model), cmp.Or(c.Effort, own.Effort)}
}

// A RoleChoice is an agent that a task assigns to one of its roles. Of several for a role the first is preferred.
type RoleChoice struct {
	Role    string `json:"role"`
	Harness string `json:"harness"`
	Model   string `json:"model,omitempty"`
	Effort  string `json:"effort,omitempty"`
}

// Choice returns the agent without its role.
func (r RoleChoice) Choice() Choice { return Choice{r.Harness, r.Model, r.Effort} }

// A Limit records until when a choice, by its name, is at its provider's limit.
type Limit struct {
	Choice string    `json:"choice"`
	Until  time.Time `json:"until"`
}
