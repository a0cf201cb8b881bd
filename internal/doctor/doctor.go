// Package doctor runs named checks and collects what they say. It knows nothing
// about what they check.
package doctor

import "context"

// A Check looks at one thing that can be wrong.
type Check struct {
	Name string
	Run  func(ctx context.Context) (detail string, err error)
	Fix  string // what to do if it fails
}

// A Result is what a check said.
type Result struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"`
}

// Run runs every check, in order, whatever the earlier ones say.
func Run(ctx context.Context, checks []Check) []Result {
	out := make([]Result, 0, len(checks))
	for _, c := range checks {
		detail, err := c.Run(ctx)
		r := Result{Name: c.Name, OK: err == nil, Detail: detail}
		if err != nil {
			r.Detail, r.Fix = err.Error(), c.Fix
		}
		out = append(out, r)
	}
	return out
}
