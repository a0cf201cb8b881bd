package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/core/board"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/core/workflow/builtin"
	"orange/internal/ui/client"
	"orange/internal/view/overview"
	"orange/internal/wire"
)

// completeRows offers the tasks that pass, newest first: those of the current project, or
// those of all projects if none of them matches the word typed so far.
func completeRows(deps Deps, all bool, passes func(*overview.Row) bool) cobra.CompletionFunc {
	return completeLive(deps, func(ctx context.Context, q question) []string {
		find := func(project string) (out []string) {
			s, _ := q.ReadState(ctx, client.StateQuery{Project: project, All: all})
			for i := len(s.Tasks) - 1; i >= 0; i-- {
				r := &s.Tasks[i]
				if passes == nil || passes(r) {
					out = append(out, q.offerTask(task.Named{ID: r.ID, Project: r.Project, Branch: r.Branch, Status: r.Status, Summary: r.Summary}, project)...)
				}
			}
			return out
		}
		return hereFirst(ctx, q, find)
	})
}

// hereFirst calls look for the current project and, if that finds nothing, for all projects.
func hereFirst(ctx context.Context, q question, find func(project string) []string) []string {
	here := q.namedProject(ctx)
	if out := find(here); len(out) > 0 || here == "" {
		return out
	}
	return find("")
}

// offerTask returns the names of a task that begin with the word typed so far: its id, and its branch or its project and
// branch if there is such a word.
func (q question) offerTask(n task.Named, here string) (out []string) {
	both, shown := n.Project+"/"+n.Branch, n.Branch
	if here == "" {
		shown = both
	}
	if strings.HasPrefix(string(n.ID), q.begun) {
		out = append(out, offerWord(string(n.ID), strings.TrimSpace(n.Status+" "+shown+" "+n.Summary)))
	}
	switch about := n.Status + " " + n.Summary; {
	case q.begun == "" || n.Branch == "":
	case here != "" && strings.HasPrefix(n.Branch, q.begun):
		out = append(out, offerWord(n.Branch, about))
	case strings.HasPrefix(both, q.begun):
		out = append(out, offerWord(both, about))
	}
	return out
}

// completeTasks offers every task, including those that are over.
func completeTasks(deps Deps) cobra.CompletionFunc {
	return completeLive(deps, func(ctx context.Context, q question) []string {
		return hereFirst(ctx, q, func(project string) (out []string) {
			tasks, _ := q.TaskList(ctx, task.Filter{Project: project, All: true})
			for i := len(tasks) - 1; i >= 0; i-- {
				t := &tasks[i]
				out = append(out, q.offerTask(task.Named{ID: t.ID, Project: t.Project, Branch: t.Branch, Status: t.Status, Summary: t.Summary}, project)...)
			}
			return out
		})
	})
}

// completeEntries offers ID@ and, after it, the entries at which the task moved.
func completeEntries(deps Deps) cobra.CompletionFunc {
	ids := completeTasks(deps)
	entries := completeLive(deps, func(ctx context.Context, q question) []string {
		id := q.begun[:strings.LastIndexByte(q.begun, '@')]
		return offerMoves(ctx, q, id, id+"@")
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
	return completeLive(deps, func(ctx context.Context, q question) []string { return offerMoves(ctx, q, q.taskArgument(), "") })
}

// offerMoves returns the entries at which a task moved, newest first.
func offerMoves(ctx context.Context, q question, id, prefix string) (out []string) {
	entries, _ := q.ReadJournal(ctx, id, 0)
	for _, e := range slices.Backward(entries) {
		if e.To != "" {
			out = append(out, offerWord(prefix+strconv.Itoa(e.Seq), strings.TrimPrefix(e.From+" -> "+e.To, " -> ")))
		}
	}
	return out
}

// completeStatuses offers the states that tasks are in.
func completeStatuses(deps Deps) cobra.CompletionFunc {
	return completeLive(deps, func(ctx context.Context, q question) (out []string) {
		tasks, _ := q.TaskList(ctx, task.Filter{Project: q.namedProject(ctx), All: true})
		count := map[string]int{}
		for i := range tasks {
			count[tasks[i].Status]++
		}
		for status, n := range count {
			out = append(out, offerWord(status, fmt.Sprintf("tasks: %d", n)))
		}
		slices.Sort(out)
		return out
	})
}

// completeTargets offers the states that the task may move to, and says what blocks a move.
func completeTargets(deps Deps) cobra.CompletionFunc {
	return completeLive(deps, func(ctx context.Context, q question) (out []string) {
		x, _ := q.ExplainTask(ctx, q.taskArgument())
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
			out = append(out, offerWord(e.To, note))
		}
		return out
	})
}

// completeStates offers all states of the task's workflow.
func completeStates(deps Deps) cobra.CompletionFunc {
	return completeLive(deps, func(ctx context.Context, q question) []string {
		v, err := q.ReadTask(ctx, q.taskArgument())
		if err != nil {
			return nil
		}
		w, err := q.ReadWorkflow(ctx, v.Task.WorkflowHash)
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
	return completeLive(deps, func(ctx context.Context, q question) (out []string) {
		list, _ := q.ListAttempts(ctx, q.taskArgument())
		for _, a := range slices.Backward(list) {
			if !slices.ContainsFunc(out, func(w string) bool { return w == a.Role || strings.HasPrefix(w, a.Role+"\t") }) {
				out = append(out, offerWord(a.Role, a.Harness+aliveSuffix(a.Alive)))
			}
		}
		return out
	})
}

// completeAttempts offers the attempts of the task, newest first.
func completeAttempts(deps Deps) cobra.CompletionFunc {
	return completeLive(deps, func(ctx context.Context, q question) (out []string) {
		list, _ := q.ListAttempts(ctx, q.taskArgument())
		for _, a := range slices.Backward(list) {
			out = append(out, offerWord(strconv.Itoa(a.Number), a.Role+" "+a.Harness+aliveSuffix(a.Alive)))
		}
		return out
	})
}

func aliveSuffix(alive bool) string {
	if alive {
		return ", at work"
	}
	return ""
}

// completeComponents offers the parts of the server that wrote to its log.
func completeComponents(deps Deps) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		lines, _ := logFilter{pattern: regexp.MustCompile(""), lines: 1000}.readLines(filepath.Join(deps.Config.Home, "orange.log"))
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

// completeProjects offers the names of projects.
func completeProjects(deps Deps) cobra.CompletionFunc {
	return completeLive(deps, func(ctx context.Context, q question) (out []string) {
		projects, _ := q.ListProjects(ctx)
		for _, p := range projects {
			out = append(out, offerWord(p.Name, p.Path))
		}
		return out
	})
}

// completeTrackers offers the names of trackers.
func completeTrackers(deps Deps) cobra.CompletionFunc {
	return completeLive(deps, func(ctx context.Context, q question) (out []string) {
		list, _ := q.ListTrackers(ctx)
		for _, r := range list {
			out = append(out, offerWord(r.Config.Name, r.Config.Kind+" of "+r.Config.Project))
		}
		return out
	})
}

// boardHere returns the board that the line is about.
func boardHere(ctx context.Context, q question) wire.Board {
	b, _ := q.ReadBoard(ctx, q.namedProject(ctx))
	return b
}

// completeCards offers the cards of the board, newest first.
func completeCards(deps Deps) cobra.CompletionFunc {
	return completeLive(deps, func(ctx context.Context, q question) (out []string) {
		for _, c := range slices.Backward(boardHere(ctx, q).Cards) {
			out = append(out, offerWord(strconv.Itoa(c.Number), fmt.Sprintf("%s: %s", c.Column, c.Title)))
		}
		return out
	})
}

// completeColumns offers the columns of the board.
func completeColumns(deps Deps) cobra.CompletionFunc {
	return completeLive(deps, func(ctx context.Context, q question) (out []string) {
		for _, c := range boardHere(ctx, q).Columns {
			out = append(out, offerWord(c, ""))
		}
		return out
	})
}

// completeTags offers the tags of the board that the line does not contain yet, and marks
// those that the card already has.
func completeTags(deps Deps) cobra.CompletionFunc {
	return completeLive(deps, func(ctx context.Context, q question) (out []string) {
		b := boardHere(ctx, q)
		var card board.Card
		for _, c := range b.Cards {
			if len(q.args) > 0 && strconv.Itoa(c.Number) == q.args[0] {
				card = c
			}
		}
		for _, tag := range b.Tags {
			about := ""
			if slices.Contains(card.Tags, tag) {
				about = "the card has it"
			}
			if !slices.Contains(q.args, tag) {
				out = append(out, offerWord(tag, about))
			}
		}
		return out
	})
}

// cardThen offers cards for the first argument, and uses then for the others.
func cardThen(deps Deps, then cobra.CompletionFunc) cobra.CompletionFunc {
	cards := completeCards(deps)
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return cards(cmd, args, begun)
		}
		return then(cmd, args, begun)
	}
}

// completeWorkflows offers the workflows that can be found from the current folder.
func completeWorkflows(deps Deps) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		if deps.Workflows == nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		list, _ := deps.Workflows.ListWorkflows(deps.Cwd)
		var out []string
		for _, e := range list {
			out = append(out, offerWord(e.Name, cmp.Or(workflowDescription(e.Text), e.Origin)))
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}

// workflowDescription returns the description in a workflow file. It scans the lines and does
// not parse the file.
func workflowDescription(text string) string {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, "describe:"); ok {
			return strings.Trim(strings.TrimSpace(rest), `"'`)
		}
	}
	return ""
}

// orFiles offers files in addition to the words of f.
func orFiles(f cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		words, _ := f(cmd, args, begun)
		return words, cobra.ShellCompDirectiveDefault
	}
}

// ofWorkflow offers words from the workflow that the first argument names.
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

// decideWords returns the completions of the flags of the workflow commands.
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
			return append([]string{offerWord(workflow.New, "it is not there yet")}, stateNames(d)...)
		}),
		"workflow decide --to": states, "workflow decide --exit": roles, "workflow decide --dead": roles,
		"workflow decide --actor": ofWorkflow(deps, func(d *workflow.Definition) []string {
			return append([]string{string(task.Human), string(task.Engine), string(task.Tracker)}, roleNames(d)...)
		}),
		"workflow decide --column": ofWorkflow(deps, func(d *workflow.Definition) []string { return boardWords(d, false) }),
		"workflow decide --tag":    ofWorkflow(deps, func(d *workflow.Definition) []string { return boardWords(d, true) }),
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
		out = append(out, offerWord(s.Name, note))
	}
	return out
}

func roleNames(d *workflow.Definition) (out []string) {
	for i := range d.Roles {
		out = append(out, offerWord(d.Roles[i].Name, ""))
	}
	return out
}

func counterNames(d *workflow.Definition) (out []string) {
	for i := range d.Counters {
		out = append(out, offerWord(d.Counters[i].Name, ""))
	}
	return out
}

// boardWords returns the columns of a workflow's board, or its tags.
func boardWords(d *workflow.Definition, tags bool) (out []string) {
	if d.Board == nil {
		return nil
	}
	list := d.Board.Columns
	if tags {
		list = d.Board.Tags
	}
	for i := range list {
		out = append(out, offerWord(list[i].Name, ""))
	}
	return out
}

// gateWords returns what of yields for the gates of a workflow, without duplicates.
func gateWords(d *workflow.Definition, of func(*workflow.Gate) string) (out []string) {
	for i := range d.Gates {
		if w := of(&d.Gates[i]); w != "" && !slices.Contains(out, w) {
			out = append(out, offerWord(w, ""))
		}
	}
	return out
}

// completePromptArguments offers workflows for the first argument and states in which an
// agent works for the second.
func completePromptArguments(deps Deps) cobra.CompletionFunc {
	flows := orFiles(completeWorkflows(deps))
	states := ofWorkflow(deps, func(d *workflow.Definition) (out []string) {
		for i := range d.States {
			if s := &d.States[i]; s.Role != "" {
				out = append(out, offerWord(s.Name, s.Role))
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

// completeFirstStates offers the states in which a new task may start.
func completeFirstStates(deps Deps) cobra.CompletionFunc {
	return completeLive(deps, func(ctx context.Context, q question) (out []string) {
		name := q.flagValue("workflow")
		if name == "" {
			here := q.namedProject(ctx)
			projects, _ := q.ListProjects(ctx)
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
			out = append(out, offerWord(def.Edges[i].To, ""))
		}
		return out
	})
}
