package tracker

import "time"

// Kinds of trackers.
const (
	Linear = "linear"
	GitHub = "github"
	MCP    = "mcp"
	Board  = "board" // the local one
)

// A Config says where a tracker is and how a project works with it. It holds no secret,
// only where one is found.
type Config struct {
	Name     string `json:"name"`
	Kind     string `json:"kind"`    // Linear, GitHub, MCP or Board
	Project  string `json:"project"` // of Orange, whose repository the issues are about
	Workflow string `json:"workflow,omitempty"`
	Harness  string `json:"harness,omitempty"` // of the tasks that are dispatched

	URL     string   `json:"url,omitempty"`     // of its API; "" for the usual one
	Scope   string   `json:"scope,omitempty"`   // linear: TEAM or TEAM/Project; github: OWNER/REPO; mcp: the project's id
	Command []string `json:"command,omitempty"` // mcp over stdio: the server's program
	Mapping string   `json:"mapping,omitempty"` // mcp: a mapping's name, or a file

	Token   string `json:"token,omitempty"`   // where the secret is: env:NAME, file:PATH, command:..., gh
	Webhook string `json:"webhook,omitempty"` // likewise, of its webhooks

	Columns  map[string]string `json:"columns,omitempty"`  // the tracker's column for a status of the workflow, where the file has another
	Eligible []string          `json:"eligible,omitempty"` // columns whose issues are dispatched; none: that of the workflow's first state
	Authors  []string          `json:"authors,omitempty"`  // whose words count: directives, and text for agents
	Max      int               `json:"max,omitempty"`      // tasks at work at once
	Every    time.Duration     `json:"every,omitempty"`    // how often it is looked at, 0 if only on demand
	Auto     bool              `json:"auto,omitempty"`     // the server dispatches by itself
}
