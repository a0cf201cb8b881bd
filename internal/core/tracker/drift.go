package tracker

import (
	"strings"
	"time"
)

// A Drift is a task and a tracker that do not say the same.
type Drift struct {
	Task   string    `json:"task"`
	Ref    string    `json:"ref"`
	Status string    `json:"status"` // of the task
	Want   string    `json:"want"`   // column in which the tracker should show it
	Have   string    `json:"have"`   // in which it did when it was read
	ReadAt time.Time `json:"read_at"`
}

// Column is the tracker's name for what a workflow calls a column.
func (c *Config) Column(name string) string {
	if own, ok := c.Columns[name]; ok {
		return own
	}
	return name
}

// Allows says whether an author's words count: directives, and text for agents. Without
// a list nobody's directives count, and everybody's issues are worked on.
func (c *Config) Allows(author string) bool {
	for _, a := range c.Authors {
		if strings.EqualFold(a, author) {
			return true
		}
	}
	return false
}

// Ref is how tasks name an issue of this tracker. Cards of the local board are named the
// same, whoever made their tasks.
func (c *Config) Ref(key string) string {
	if c.Kind == Board {
		return Ref(Board, c.Project+"/"+key)
	}
	return Ref(c.Name, key)
}

// Key is the issue that a task names, false if it is none of this tracker's.
func (c *Config) Key(ref string) (string, bool) {
	key, ok := strings.CutPrefix(ref, c.Ref(""))
	return key, ok && key != ""
}
