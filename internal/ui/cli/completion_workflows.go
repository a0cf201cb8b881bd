package cli

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/core/workflow/builtin"
)

// completeWorkflows offers the workflows that are found from this folder.
func completeWorkflows(deps Deps) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		if deps.Workflows == nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		list, _ := deps.Workflows.List(deps.Cwd)
		var out []string
		for _, e := range list {
			out = append(out, offer(e.Name, cmp.Or(describes(e.Text), e.Origin)))
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}

// describes is what a workflow file says about itself, without reading all of it.
func describes(text string) string {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, "describe:"); ok {
			return strings.Trim(strings.TrimSpace(rest), `"'`)
		}
	}
	return ""
}

// orFiles offers files, too.
func orFiles(f cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		words, _ := f(cmd, args, begun)
		return words, cobra.ShellCompDirectiveDefault
	}
}

// ofWorkflow offers words of the workflow that the first argument names.
func ofWorkflow(deps Deps, words func(*workflow.Definition) []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		def, err := loadWorkflow(deps, args[0])
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return words(def), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// decideWords are the flags of commands about a workflow.
func decideWords(deps Deps) map[string]cobra.CompletionFunc {
	states := ofWorkflow(deps, stateNames)
	roles := ofWorkflow(deps, roleNames)
	assigned := func(list func(*workflow.Definition) []string) cobra.CompletionFunc {
		return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
			words, _ := ofWorkflow(deps, list)(cmd, args, begun)
			for i, w := range words {
				words[i] = w + "="
			}
			return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		}
	}
	return map[string]cobra.CompletionFunc{
		"workflow decide --from": ofWorkflow(deps, func(d *workflow.Definition) []string {
			return append([]string{offer(workflow.New, "it is not there yet")}, stateNames(d)...)
		}),
		"workflow decide --to": states, "workflow decide --exit": roles, "workflow decide --dead": roles,
		"workflow decide --actor": ofWorkflow(deps, func(d *workflow.Definition) []string {
			return append([]string{string(task.Human), string(task.Engine), string(task.Tracker)}, roleNames(d)...)
		}),
		"workflow decide --column": ofWorkflow(deps, func(d *workflow.Definition) []string { return marks(d, false) }),
		"workflow decide --tag":    ofWorkflow(deps, func(d *workflow.Definition) []string { return marks(d, true) }),
		"workflow decide --stale": ofWorkflow(deps, func(d *workflow.Definition) []string {
			return gateWords(d, func(g *workflow.Gate) string { return g.Section })
		}),
		"workflow decide --foreign": ofWorkflow(deps, func(d *workflow.Definition) []string {
			return gateWords(d, func(g *workflow.Gate) string {
				if g.Verdict == "" {
					return ""
				}
				return g.Section
			})
		}),
		"workflow decide --without": ofWorkflow(deps, func(d *workflow.Definition) []string {
			return gateWords(d, func(g *workflow.Gate) string { return g.Evidence })
		}),
		"workflow decide --set":       assigned(counterNames),
		"workflow simulate --what-if": assigned(counterNames),
		"workflow verify --budget":    assigned(roleNames),
	}
}

func stateNames(d *workflow.Definition) (out []string) {
	for i := range d.States {
		s := &d.States[i]
		note := string(s.Kind)
		if s.Role != "" {
			note += ", " + s.Role
		}
		out = append(out, offer(s.Name, note))
	}
	return out
}

func roleNames(d *workflow.Definition) (out []string) {
	for i := range d.Roles {
		out = append(out, offer(d.Roles[i].Name, ""))
	}
	return out
}

func counterNames(d *workflow.Definition) (out []string) {
	for i := range d.Counters {
		out = append(out, offer(d.Counters[i].Name, ""))
	}
	return out
}

// marks are the columns or the tags of a workflow's board.
func marks(d *workflow.Definition, tags bool) (out []string) {
	if d.Board == nil {
		return nil
	}
	list := d.Board.Columns
	if tags {
		list = d.Board.Tags
	}
	for i := range list {
		out = append(out, offer(list[i].Name, ""))
	}
	return out
}

// gateWords are what the gates of a workflow ask for, each once.
func gateWords(d *workflow.Definition, of func(*workflow.Gate) string) (out []string) {
	for i := range d.Gates {
		if w := of(&d.Gates[i]); w != "" && !slices.Contains(out, w) {
			out = append(out, offer(w, ""))
		}
	}
	return out
}

// completePromptArguments offers workflows, and then the states in which an agent works.
func completePromptArguments(deps Deps) cobra.CompletionFunc {
	flows := orFiles(completeWorkflows(deps))
	states := ofWorkflow(deps, func(d *workflow.Definition) (out []string) {
		for i := range d.States {
			if s := &d.States[i]; s.Role != "" {
				out = append(out, offer(s.Name, s.Role))
			}
		}
		return out
	})
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		switch len(args) {
		case 0:
			return flows(cmd, args, begun)
		case 1:
			return states(cmd, args, begun)
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeBeginnings offers the states in which a new task may begin.
func completeBeginnings(deps Deps) cobra.CompletionFunc {
	return live(deps, func(ctx context.Context, q question) (out []string) {
		name := q.flag("workflow")
		if name == "" {
			here := q.project(ctx)
			projects, _ := q.Projects(ctx)
			for _, p := range projects {
				if p.Name == here {
					name = p.Workflow
				}
			}
		}
		def, err := loadWorkflow(deps, cmp.Or(name, builtin.Default))
		if err != nil {
			return nil
		}
		for _, i := range def.EdgesFrom(workflow.New) {
			out = append(out, offer(def.Edges[i].To, ""))
		}
		return out
	})
}
