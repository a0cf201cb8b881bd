package journal

import (
	"encoding/hex"
	"encoding/json"
	"errors"

	"orange/internal/core/task"
)

// ExportVersion is the version of the lines of an export. Version 1 held entries from before Format.
const ExportVersion = 2

// The kinds of the lines of an export.
const (
	ExportBegin    = "orange" // the first line
	ExportProject  = "project"
	ExportWorkflow = "workflow"
	ExportEntry    = "entry"
	ExportBody     = "body"
)

// ExportLine is one line of an export. Its kind determines which fields are used.
type ExportLine struct {
	Kind    string          `json:"kind"`
	Version int             `json:"version,omitempty"`
	Store   string          `json:"store,omitempty"` // id of the store
	Project *task.Project   `json:"project,omitempty"`
	Name    string          `json:"name,omitempty"`
	File    string          `json:"file,omitempty"`
	Text    string          `json:"text,omitempty"`
	Task    task.ID         `json:"task,omitempty"`
	Entry   json.RawMessage `json:"entry,omitempty"`
	Row     int64           `json:"row,omitempty"`     // of the entry
	Link    string          `json:"link,omitempty"`    // of the row
	Segment string          `json:"segment,omitempty"` // that begins with the row
}

// ErrNoLinks means that an export is of a version before the chain.
var ErrNoLinks = errors.New("the export has no links")

// FollowChain follows the chain by a line with an entry. The error says why the line is not the next row.
func (l *ExportLine) FollowChain(c *Chain) error {
	if l.Row == 0 && l.Link == "" {
		return ErrNoLinks
	}
	row := Row{ID: l.Row, Entry: l.Entry, Segment: l.Segment}
	stored, err := row.Stored()
	if err != nil {
		return err
	}
	link, err := hex.DecodeString(l.Link)
	if err != nil {
		return err
	}
	return c.FollowRow(&stored, link)
}
