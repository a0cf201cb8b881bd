package tracker

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// A Drift is a task and a tracker that do not say the same, or an issue of which no task
// can be made.
type Drift struct {
	Task   string    `json:"task"` // "" if none can be made
	Ref    string    `json:"ref"`
	Status string    `json:"status"` // of the task
	Want   string    `json:"want"`   // column in which the tracker should show it
	Have   string    `json:"have"`   // in which it did when it was read
	ReadAt time.Time `json:"read_at"`
	Reason string    `json:"reason,omitempty"` // why no task can be made
}

func (d Drift) String() string {
	if d.Task == "" {
		return fmt.Sprintf("%s is in %s, and no task can be made of it: %s", d.Ref, d.Have, d.Reason)
	}
	return fmt.Sprintf("%s is in %s and should be in %s: task %s is %s", d.Ref, d.Have, d.Want, d.Task, d.Status)
}

// ColumnName is the tracker's name for what a workflow calls a column.
func (c *Config) ColumnName(name string) string {
	if own, ok := c.Columns[name]; ok {
		return own
	}
	return name
}

// AllowsAuthor says whether an author's words count: directives, and text for agents. Without
// a list nobody's directives count, and everybody's issues are worked on.
func (c *Config) AllowsAuthor(author string) bool {
	for _, a := range c.Authors {
		if author != "" && plainFold(a) == plainFold(author) {
			return true
		}
	}
	return false
}

// plainFold makes small letters of the plain ones only: letters of other scripts that are
// folded to them are other names.
func plainFold(name string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, name)
}

// AuthorName is the name of an account as an allow-list may have it, "" if it has anything in
// it that cannot be seen: cleaned, it might be somebody else's.
func AuthorName(name string) string {
	const longest = 200
	if len(name) > longest || !utf8.ValidString(name) || name != strings.TrimSpace(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return ""
	}
	return name
}

// IssueRef is how tasks name an issue of this tracker. Cards of the local board are named the
// same, whoever made their tasks.
func (c *Config) IssueRef(key string) string {
	if c.Kind == Board {
		return NewRef(Board, c.Project+"/"+key)
	}
	return NewRef(c.Name, key)
}

// IssueKey is the issue that a task names, false if it is none of this tracker's.
func (c *Config) IssueKey(ref string) (string, bool) {
	key, ok := strings.CutPrefix(ref, c.IssueRef(""))
	return key, ok && key != ""
}
