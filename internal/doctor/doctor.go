// Package doctor runs named checks and collects their results. It does not know what they check.
package doctor

import "context"

// A Check checks one thing that can be wrong. Run returns an error if it is.
type Check struct {
	Name string
	Run  func(ctx context.Context) (detail string, err error)
	Fix  string // what to do if it fails
}

// A Result is the result of a check.
type Result struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"`
}

// Run runs all checks, in order, including those after one that fails.
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
