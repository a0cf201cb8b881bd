package tracker

import (
	"strings"
	"time"
)

// Kinds of trackers.
const (
	Linear = "linear"
	GitHub = "github"
	MCP    = "mcp"
	Board  = "board" // the embedded board
)

// KindInfo is the row of a kind in the table of trackers.
type KindInfo struct {
	Name       string
	Words      string // description
	Scope      string // what --scope names; "" if it has none
	NeedsScope string // why it must have one; "" if it is optional
}

// Kinds lists the kinds of trackers. Package server connects to each.
func Kinds() []KindInfo {
	return []KindInfo{
		{Name: Linear, Words: "issues in Linear", Scope: "TEAM or TEAM/Project", NeedsScope: "a Linear tracker needs its team: --scope TEAM, as in TEAM-12"},
		{Name: GitHub, Words: "issues on GitHub", Scope: "OWNER/REPO"},
		{Name: MCP, Words: "a board over MCP", Scope: "the project's id"},
		{Name: Board, Words: "the local board"},
	}
}

// FindKind returns the row of a kind.
func FindKind(name string) (KindInfo, bool) {
	for _, k := range Kinds() {
		if k.Name == name {
			return k, true
		}
	}
	return KindInfo{}, false
}

// KindNames lists the kinds as part of a sentence.
func KindNames() string {
	all := Kinds()
	names := make([]string, len(all))
	for i, k := range all {
		names[i] = k.Name
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}

// A Config is where a tracker is and how a project works with it. It holds no secret, only a reference to one.
type Config struct {
	Name     string `json:"name"`
	Kind     string `json:"kind"`    // Linear, GitHub, MCP or Board
	Project  string `json:"project"` // the project whose repository the issues are about
	Workflow string `json:"workflow,omitempty"`
	Harness  string `json:"harness,omitempty"` // of dispatched tasks

	URL     string   `json:"url,omitempty"`     // of its API; "" for the default
	Scope   string   `json:"scope,omitempty"`   // linear: TEAM or TEAM/Project; github: OWNER/REPO; mcp: the project's id
	Command []string `json:"command,omitempty"` // mcp over stdio: the server's program
	Mapping string   `json:"mapping,omitempty"` // mcp: a mapping's name, or a file

	Token   string `json:"token,omitempty"`   // reference to the secret: env:NAME, file:PATH, command:..., gh
	Webhook string `json:"webhook,omitempty"` // likewise, for its webhooks

	Columns  map[string]string `json:"columns,omitempty"`  // the tracker's column for a status of the workflow, where it differs from the file's
	Eligible []string          `json:"eligible,omitempty"` // columns whose issues are dispatched; none: that of the workflow's first state
	Authors  []string          `json:"authors,omitempty"`  // authors whose directives count and whose text agents may read
	Max      int               `json:"max,omitempty"`      // maximum number of tasks at work
	Every    time.Duration     `json:"every,omitempty"`    // polling interval, 0 for polling on demand only
	Auto     bool              `json:"auto,omitempty"`     // the server dispatches by itself
}
