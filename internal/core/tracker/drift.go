package tracker

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// A Drift is a difference between a task and its tracker, or an issue for which no task can be created.
type Drift struct {
	Task   string    `json:"task"` // "" if none can be created
	Ref    string    `json:"ref"`
	Status string    `json:"status"` // of the task
	Want   string    `json:"want"`   // column in which the tracker should show it
	Have   string    `json:"have"`   // column in which it was when it was read
	ReadAt time.Time `json:"read_at"`
	Reason string    `json:"reason,omitempty"` // why no task can be created
}

func (d Drift) String() string {
	if d.Task == "" {
		return fmt.Sprintf("%s is in %s, and no task can be created for it: %s", d.Ref, d.Have, d.Reason)
	}
	return fmt.Sprintf("%s is in %s and should be in %s: task %s is %s", d.Ref, d.Have, d.Want, d.Task, d.Status)
}

// ColumnName returns the tracker's name for a column of a workflow.
func (c *Config) ColumnName(name string) string {
	if own, ok := c.Columns[name]; ok {
		return own
	}
	return name
}

// AllowsAuthor reports whether an author is on the list of those whose directives count and whose text agents may read.
// Without a list nobody's directives count, and everybody's issues are worked on.
func (c *Config) AllowsAuthor(author string) bool {
	for _, a := range c.Authors {
		if author != "" && plainFold(a) == plainFold(author) {
			return true
		}
	}
	return false
}

// plainFold converts ASCII letters to lower case and leaves all others: letters of other scripts that fold to ASCII
// belong to other names.
func plainFold(name string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, name)
}

// AuthorName returns the name of an account as an allow-list may contain it, or "" if it has an invisible character:
// without it, the name might be somebody else's.
func AuthorName(name string) string {
	const longest = 200
	if len(name) > longest || !utf8.ValidString(name) || name != strings.TrimSpace(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return ""
	}
	return name
}

// IssueRef returns the name that tasks use for an issue of this tracker. Cards of the embedded board have the same
// name, no matter who created their tasks.
func (c *Config) IssueRef(key string) string {
	if c.Kind == Board {
		return NewRef(Board, c.Project+"/"+key)
	}
	return NewRef(c.Name, key)
}

// IssueKey returns the issue that a task names, or false if it does not belong to this tracker.
func (c *Config) IssueKey(ref string) (string, bool) {
	key, ok := strings.CutPrefix(ref, c.IssueRef(""))
	return key, ok && key != ""
}
