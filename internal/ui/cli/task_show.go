package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orange/internal/core/task"
	"orange/internal/core/tracker"
	"orange/internal/view/narrate"
	"orange/internal/view/overview"
	"orange/internal/wire"
)

func newTaskList(deps Deps) *cobra.Command {
	var f task.Filter
	var everywhere bool
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List tasks, by default the open tasks of this folder's project", Args: requireArguments(0, 0),
		Long: "List the tasks of this folder's project, or of all if it belongs to none, in order of creation. A\n" +
			"note shows what is special: paused, queued, after another task, crashed, or who is at work, and how many\n" +
			"tasks wait for this one.",
		Example: "  orange task list\n" +
			"  orange task list --closed\n" +
			"  orange task list --status reviewing --json",
	}
	cmd.Flags().StringVar(&f.Project, "project", "", "only tasks of this project")
	cmd.Flags().StringVar(&f.Status, "status", "", "only tasks in this state")
	cmd.Flags().BoolVar(&f.All, "closed", false, "those that are over too")
	cmd.Flags().BoolVar(&everywhere, "all", false, "of all projects")
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if everywhere && f.Project != "" {
			return usageError("--all means all projects: give --all or --project, and --closed for tasks that are over")
		}
		return nil
	}
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, _ []string) error {
		if f.Project == "" && !everywhere {
			at, err := s.FindPlace(ctx, s.Cwd)
			if err != nil {
				return err
			}
			f.Project = at.Project
		}
		if wantsJSON(s.cmd) {
			return s.CopyTaskList(ctx, f, s.Stdout)
		}
		tasks, err := s.TaskTable(ctx, f)
		if err != nil {
			return err
		}
		return printTasks(s.Stdout, s.Deps, tasks)
	})
	return cmd
}

func printTasks(w io.Writer, deps Deps, tasks []wire.TaskLine) error {
	if len(tasks) == 0 {
		_, err := fmt.Fprintln(w, "No tasks. Create one with: orange task create <branch> <summary>")
		return err
	}
	now := deps.Now()
	rows := [][]string{{"ID", "STATUS", "TASK", "NOTE", "AGE", "SUMMARY"}}
	for i := range tasks {
		t := &tasks[i]
		name := cleanLine(t.Project + "/" + t.Branch)
		if deps.IsTerminal {
			name = cutToWidth(name, 28)
		}
		rows = append(rows, []string{shortID(string(t.ID)), cleanLine(t.Status), name, withUnblocks(taskNote(now, t), t), formatAge(now, t.Since), cleanLine(t.Summary)})
	}
	return printTable(w, deps.lineWidth(), rows)
}

// taskNote describes what is special about a task: what holds it, or else which roles are at work.
func taskNote(now time.Time, t *wire.TaskLine) string {
	switch {
	case t.Paused:
		return "paused"
	case t.Attention:
		return "attention"
	case t.Asks != "":
		return "asks " + cleanLine(t.Asks)
	case t.Stopped:
		return "stopped"
	case t.Failed:
		return "failed"
	case t.Crashed && t.RespawnAt.After(now):
		return "back in " + formatSpan(t.RespawnAt.Sub(now))
	case t.RespawnAt.After(now):
		return "starts in " + formatSpan(t.RespawnAt.Sub(now))
	case t.Crashed:
		return "crashed"
	case t.Queued && len(task.UnmetToStart(t.After)) > 0:
		return cleanLine(narrate.DescribeAfter(t.After))
	case t.Queued:
		return "queued"
	case t.Landing && t.Place > 1:
		return fmt.Sprintf("landing, number %d", t.Place)
	case t.Landing:
		return "landing"
	case len(t.Roles) == 0:
		return "-"
	}
	roles := make([]string, len(t.Roles))
	for i, role := range t.Roles {
		roles[i] = cleanLine(role)
	}
	return strings.Join(roles, ",")
}

// withUnblocks adds to a note how many tasks wait for a task.
func withUnblocks(note string, t *wire.TaskLine) string {
	if t.Unblocks == 0 {
		return note
	}
	return strings.TrimPrefix(fmt.Sprintf("%s, unblocks %d", note, t.Unblocks), "-, ")
}

func newTaskShow(deps Deps) *cobra.Command {
	return &cobra.Command{
		Use: "show [id]", Short: "Show a task, its text and its history", Args: requireArguments(0, 1),
		Long: "Show what is known of a task, the text of its TASK.md and what happened to it. Without an id, the\n" +
			"task of this attempt or of this workspace.",
		Example: "  orange task show MFTsZyeO\n" +
			"  orange task show --json",
		RunE: withServer(deps, func(ctx context.Context, s session, args []string) error {
			id, err := s.taskOf(ctx, args)
			if err != nil {
				return err
			}
			v, err := s.ReadTask(ctx, id)
			if err != nil {
				return err
			}
			events, err := s.ReadHistory(ctx, string(v.Task.ID))
			if err != nil {
				return err
			}
			all := struct {
				wire.TaskDetails
				History []json.RawMessage `json:"history"`
			}{v, events}
			return s.showResult(all, func(w io.Writer) error { return printView(w, s.Deps, v, events) })
		}),
	}
}

func printView(w io.Writer, deps Deps, v wire.TaskDetails, events []json.RawMessage) error {
	if err := printTable(w, 0, taskDetails(deps.Now(), v)); err != nil {
		return err
	}
	if len(v.Reasons) > 0 {
		fmt.Fprintln(w, "\nWhy it waits")
		printReasons(w, v.Reasons, "", 0)
	}
	if body := strings.TrimSpace(cleanText(v.Body)); body != "" {
		fmt.Fprintf(w, "\n%s\n", body)
	}
	if len(events) == 0 {
		return nil
	}
	fmt.Fprintln(w, "\nHistory")
	return printHistory(w, deps, events)
}

// taskDetails returns the facts that are known about a task, one row each.
func taskDetails(now time.Time, v wire.TaskDetails) [][]string {
	t := &v.Task
	rows := [][]string{}
	add := func(name, value string) {
		if value = cleanLine(value); value != "" {
			rows = append(rows, []string{name, value})
		}
	}
	add("Task", string(t.ID))
	add("Project", t.Project)
	add("Branch", t.Branch)
	add("Base", t.BaseBranch)
	add("Summary", t.Summary)
	add("Status", fmt.Sprintf("%s for %s, since %s", t.Status, formatAge(now, t.Since), formatClock(now, t.Since)))
	add("Note", describeFlags(t))
	add("Workflow", t.Workflow)
	add("Harness", narrate.DescribeHarness(t.OwnChoice()))
	add("Flags", t.AgentFlags)
	add("Permissions", t.Permissions)
	add("Review by", narrate.DescribeHarness(t.ReviewChoice()))
	for _, c := range t.Roles {
		add("Role", c.Role+" by "+narrate.DescribeHarness(c.Choice()))
	}
	for _, c := range overview.ChecksOf(t) {
		add("Check", describeCheck(now, &c))
	}
	add("Landing", v.DescribeLanding())
	add("Needs approval", strings.Join(task.PathsOf(t.UnapprovedChanges()), ", "))
	add("Approved", strings.Join(task.PathsOf(t.ApprovedChanges), ", "))
	add("Counters", narrate.DescribeCounters(t.Counters))
	add("Agents", describeAgents(now, t.Attempts))
	add("Spent", describeSpent(t))
	add("Workspace", t.Workspace)
	add("Session", t.TmuxSession)
	add("Delivery", string(t.Delivery))
	add("Fork of", t.ForkOf)
	add("Parent", string(t.Parent))
	add("Children", narrate.ListReferences(v.Children))
	add("After", narrate.ListPredecessors(t.Predecessors))
	add("Unblocks", narrate.ListReferences(v.Unblocks))
	add("Tracker", describeIssueStatus(now, t, v.Issue))
	if v.Issue != nil {
		add("Issue", v.Issue.URL)
	}
	add("Card", describeCard(t))
	add("Last said", describeLastReport(t))
	if h := t.Handover; h != nil {
		add("Missing", strings.Join(h.Missing, "; "))
	}
	add("Salvaged", strings.Join(t.Salvages, ", "))
	add("Set aside", strings.Join(t.SetAside, ", "))
	add("PR", strings.TrimSpace(t.PRURL+" "+t.PRState))
	add("Created", fmt.Sprintf("%s ago, %s", formatAge(now, t.CreatedAt), formatClock(now, t.CreatedAt)))
	add("Folder", v.Dir)
	add("Problem", v.Problem)
	return rows
}

// describeCheck describes how a check stands, and on which tree.
func describeCheck(now time.Time, c *overview.CheckStatus) string {
	text := c.Name + " " + c.Describe(now)
	if c.Tree != "" {
		text += fmt.Sprintf(" (tree %.12s)", c.Tree)
	}
	return text
}

// describeIssueStatus describes the task's issue and when it was last read.
func describeIssueStatus(now time.Time, t *task.Task, is *tracker.IssueStatus) string {
	if is == nil {
		return t.TrackerRef
	}
	text := fmt.Sprintf("%s in %s, read %s ago", is.Ref, is.Column, formatAge(now, is.ReadAt))
	if is.Want != "" {
		text += fmt.Sprintf("; it should be in %s: orange tracker sync --fix", is.Want)
	}
	return text
}

// describeCard describes the task's card as it was last read.
func describeCard(t *task.Task) string {
	if t.CardSnapshot == nil {
		return ""
	}
	return strings.Join(append([]string{t.CardSnapshot.Column}, t.CardSnapshot.Tags...), ", ")
}

// describeLastReport describes the last report of an agent about the task.
func describeLastReport(t *task.Task) string {
	if t.LastReport == nil {
		return ""
	}
	words := []string{t.LastReport.Role + " in " + t.LastReport.State}
	for _, w := range []string{t.LastReport.Outcome, t.LastReport.Code, t.LastReport.Detail, t.LastReport.Diagnosis} {
		if w != "" && w != words[len(words)-1] {
			words = append(words, w)
		}
	}
	return strings.Join(words, ": ")
}

// describeFlags lists everything that is special about a task.
func describeFlags(t *task.Task) string {
	var out []string
	if t.Deleted {
		out = append(out, "deleted")
	}
	if t.Paused {
		out = append(out, strings.TrimSuffix("paused: "+t.PauseReason, ": "))
	}
	if waits := narrate.DescribeQueue(t); waits != "" {
		out = append(out, strings.TrimPrefix(waits, "it "))
	}
	if t.Attention != "" {
		out = append(out, "needs attention: "+t.Attention)
	}
	if t.Asked != nil {
		out = append(out, fmt.Sprintf("the %s asks for %s", t.Asked.By, t.Asked.To))
	}
	switch {
	case t.Stopped != nil:
		out = append(out, cleanLine(t.WorkFailed))
	case t.WorkFailed != "":
		out = append(out, "held: "+cleanLine(t.WorkFailed))
	}
	if t.Crashed != "" {
		out = append(out, "the "+t.Crashed+" crashed")
	}
	return strings.Join(out, "; ")
}

func describeAgents(now time.Time, list []task.Attempt) string {
	var out []string
	for _, a := range list {
		how := "starting"
		switch {
		case a.Ending:
			how = "ending"
		case a.Running:
			how = narrate.DescribeCondition(a.Condition, now)
		}
		out = append(out, fmt.Sprintf("%s (attempt %d, %s, %s)", a.Role, a.Number, how, formatAge(now, a.Since)))
	}
	return strings.Join(out, ", ")
}

// describeSpent describes what the agents of a task have consumed, "" if nothing is known.
func describeSpent(t *task.Task) string {
	u := t.Spent.Usage
	var out []string
	add := func(n int64, what string) {
		if n > 0 {
			out = append(out, formatRoughly(n)+" "+what)
		}
	}
	add(u.InputTokens, "tokens in")
	add(u.OutputTokens, "tokens out")
	add(u.CachedTokens, "cached")
	if u.CostMicroUSD > 0 {
		out = append(out, formatCents(u.CostMicroUSD))
	}
	if len(out) > 0 && t.AttemptCount() > 0 {
		out = append(out, fmt.Sprintf("%d attempts", t.AttemptCount()))
	}
	return strings.Join(out, ", ")
}
