package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/core/overview"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/ui/client"
)

// completeRows offers tasks that pass, the newest first: those of this folder's project,
// or all if none of them begins like the word.
func completeRows(deps Deps, all bool, passes func(*overview.Row) bool) cobra.CompletionFunc {
	return live(deps, func(ctx context.Context, q question) []string {
		look := func(project string) (out []string) {
			s, _ := q.State(ctx, client.Seen{Project: project, All: all})
			for i := len(s.Tasks) - 1; i >= 0; i-- {
				r := &s.Tasks[i]
				if strings.HasPrefix(string(r.ID), q.begun) && (passes == nil || passes(r)) {
					out = append(out, offer(string(r.ID), about(r.Status, r.Project, r.Branch, r.Summary, project)))
				}
			}
			return out
		}
		return hereFirst(ctx, q, look)
	})
}

// hereFirst looks in the project of the folder, then everywhere.
func hereFirst(ctx context.Context, q question, look func(project string) []string) []string {
	here := q.project(ctx)
	if out := look(here); len(out) > 0 || here == "" {
		return out
	}
	return look("")
}

// about says which task an id is, with its project if that does not go without saying.
func about(status, project, branch, summary, here string) string {
	if here == "" {
		branch = project + "/" + branch
	}
	return strings.TrimSpace(status + " " + branch + " " + summary)
}

// completeTasks offers every task, those that are over too.
func completeTasks(deps Deps) cobra.CompletionFunc {
	return live(deps, func(ctx context.Context, q question) []string {
		return hereFirst(ctx, q, func(project string) (out []string) {
			tasks, _ := q.TaskList(ctx, task.Filter{Project: project, All: true})
			for i := len(tasks) - 1; i >= 0; i-- {
				if t := &tasks[i]; strings.HasPrefix(string(t.ID), q.begun) {
					out = append(out, offer(string(t.ID), about(t.Status, t.Project, t.Branch, t.Summary, project)))
				}
			}
			return out
		})
	})
}

// completeEntries offers ID@ and, behind it, the entries of the task at which it moved.
func completeEntries(deps Deps) cobra.CompletionFunc {
	ids := completeTasks(deps)
	entries := live(deps, func(ctx context.Context, q question) []string {
		id, _, _ := strings.Cut(q.begun, "@")
		return moves(ctx, q, id, id+"@")
	})
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if strings.Contains(begun, "@") {
			return entries(cmd, args, begun)
		}
		words, directive := ids(cmd, args, begun)
		for i, w := range words {
			id, rest, _ := strings.Cut(w, "\t")
			words[i] = id + "@\t" + rest
		}
		return words, directive | cobra.ShellCompDirectiveNoSpace
	}
}

// completeSeqs offers the entries at which the task moved.
func completeSeqs(deps Deps) cobra.CompletionFunc {
	return live(deps, func(ctx context.Context, q question) []string { return moves(ctx, q, q.task(), "") })
}

// moves lists the entries at which a task moved, the newest first.
func moves(ctx context.Context, q question, id, prefix string) (out []string) {
	entries, _ := q.Journal(ctx, id, 0)
	for _, e := range slices.Backward(entries) {
		if e.To != "" {
			out = append(out, offer(prefix+strconv.Itoa(e.Seq), strings.TrimPrefix(e.From+" -> "+e.To, " -> ")))
		}
	}
	return out
}

// completeStatuses offers the states that tasks are in.
func completeStatuses(deps Deps) cobra.CompletionFunc {
	return live(deps, func(ctx context.Context, q question) (out []string) {
		tasks, _ := q.TaskList(ctx, task.Filter{Project: q.project(ctx), All: true})
		count := map[string]int{}
		for i := range tasks {
			count[tasks[i].Status]++
		}
		for status, n := range count {
			out = append(out, offer(status, fmt.Sprintf("tasks: %d", n)))
		}
		slices.Sort(out)
		return out
	})
}

// completeTargets offers the states the task may go to, and what keeps it from them.
func completeTargets(deps Deps) cobra.CompletionFunc {
	return live(deps, func(ctx context.Context, q question) (out []string) {
		x, _ := q.Explain(ctx, q.task())
		seen := map[string]bool{}
		for i := range x.Edges {
			e := &x.Edges[i]
			if seen[e.To] {
				continue
			}
			seen[e.To] = true
			note := e.As
			if !e.Open {
				note = strings.TrimSpace(note + " closed: " + e.Closed)
			}
			out = append(out, offer(e.To, note))
		}
		return out
	})
}

// completeStates offers all states of the task's workflow.
func completeStates(deps Deps) cobra.CompletionFunc {
	return live(deps, func(ctx context.Context, q question) []string {
		v, err := q.Task(ctx, q.task())
		if err != nil {
			return nil
		}
		w, err := q.Workflow(ctx, v.Task.WorkflowHash)
		if err != nil {
			return nil
		}
		def, err := workflow.Parse(w.File, w.Text)
		if err != nil {
			return nil
		}
		return stateNames(def)
	})
}

// completeRoles offers the roles that work or worked on the task.
func completeRoles(deps Deps) cobra.CompletionFunc {
	return live(deps, func(ctx context.Context, q question) (out []string) {
		list, _ := q.Attempts(ctx, q.task())
		for _, a := range slices.Backward(list) {
			if !slices.ContainsFunc(out, func(w string) bool { return w == a.Role || strings.HasPrefix(w, a.Role+"\t") }) {
				out = append(out, offer(a.Role, a.Harness+lives(a.Alive)))
			}
		}
		return out
	})
}

// completeAttempts offers the attempts of the task, the newest first.
func completeAttempts(deps Deps) cobra.CompletionFunc {
	return live(deps, func(ctx context.Context, q question) (out []string) {
		list, _ := q.Attempts(ctx, q.task())
		for _, a := range slices.Backward(list) {
			out = append(out, offer(strconv.Itoa(a.Number), a.Role+" "+a.Harness+lives(a.Alive)))
		}
		return out
	})
}

func lives(alive bool) string {
	if alive {
		return ", at work"
	}
	return ""
}

// completeComponents offers the parts of the server that wrote to its log.
func completeComponents(deps Deps) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		lines, _ := logFilter{pattern: regexp.MustCompile(""), lines: 1000}.read(filepath.Join(deps.Config.Home, "orange.log"))
		var out []string
		for _, l := range lines {
			var one struct {
				Component string `json:"component"`
			}
			if json.Unmarshal(l, &one) == nil && one.Component != "" && !slices.Contains(out, one.Component) {
				out = append(out, cleanLine(one.Component))
			}
		}
		slices.Sort(out)
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}
