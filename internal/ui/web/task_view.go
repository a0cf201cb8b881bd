package web

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/explain"
	"orange/internal/core/journal"
	"orange/internal/core/question"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/view/ansi"
	"orange/internal/view/humanize"
	"orange/internal/view/narrate"
	"orange/internal/view/overview"
	"orange/internal/wire"
)

// A taskFact is a name and a value, shown as one line.
type taskFact struct {
	Name, Value string
	Href        string // "" for no link
}

// taskFacts returns the facts of a task that are known.
func taskFacts(p *taskPage) []taskFact {
	t := &p.Task
	var out []taskFact
	add := func(name, value, href string) {
		if value = ansi.OneLine(humanize.Cut(value, 500)); value != "" {
			out = append(out, taskFact{name, value, href})
		}
	}
	add("Branch", p.Name, "")
	add("Base", t.BaseBranch, "")
	add("Workflow", t.Workflow, "/workflows/"+t.WorkflowHash)
	add("Harness", narrate.DescribeHarness(t.OwnChoice()), "")
	add("Flags", t.AgentFlags, "")
	add("Permissions", t.Permissions, "")
	add("Review by", narrate.DescribeHarness(t.ReviewChoice()), "")
	add("Workspace", t.Workspace, "")
	if r := p.Look.PR; r != nil {
		text := "pull request"
		if r.Number > 0 {
			text = "#" + strconv.Itoa(r.Number)
		}
		add("Pull request", strings.TrimSpace(text+" "+strings.ToLower(r.State)+" "+describeChecks(r.Checks)), safeURL(r.URL))
	}
	if w := p.Look.Work; w != nil && (w.Commits > 0 || w.Added > 0 || w.Deleted > 0) {
		add("Work", fmt.Sprintf("%s, +%d −%d", humanize.Plural(w.Commits, "commit"), w.Added, w.Deleted), "")
	}
	if href, name := cardHref(t.TrackerRef); href != "" {
		add("Card", name, href)
	} else {
		add("Tracker", t.TrackerRef, "")
	}
	if t.Parent != "" {
		add("Parent", humanize.ShortID(string(t.Parent)), "/tasks/"+string(t.Parent))
	}
	if t.MergeEffect() != nil {
		add("Landing", t.DescribeLanding(), "")
	} else {
		add("Landing", t.Landing.DescribeEnd(), "")
	}
	out = append(out, p.relatedTasks()...)
	add("Fork of", t.ForkOf, "")
	add("Counters", narrate.DescribeCounters(slices.DeleteFunc(slices.Clone(t.Counters), func(c task.Counter) bool { return c.Value == 0 })), "")
	add("Spent", describeSpending(t), "")
	add("Created", humanize.FormatAge(p.Now, t.CreatedAt)+" ago", "")
	return out
}

func describeChecks(checks string) string {
	if checks == "" {
		return ""
	}
	return "(checks " + checks + ")"
}

func describeSpending(t *task.Task) string {
	u := t.Spent.Usage
	var out []string
	if u.CostMicroUSD > 0 {
		out = append(out, formatMoney(u.CostMicroUSD))
	}
	if n := u.InputTokens + u.OutputTokens; n > 0 {
		out = append(out, shortNumber(n)+" tokens")
	}
	if n := t.AttemptCount(); n > 0 {
		out = append(out, humanize.Plural(n, "attempt"))
	}
	return strings.Join(out, ", ")
}

// shortNumber formats a large number in few characters.
func shortNumber(n int64) string {
	switch {
	case n < 1000:
		return strconv.FormatInt(n, 10)
	case n < 1_000_000:
		return strconv.FormatFloat(float64(n)/1e3, 'g', 3, 64) + "k"
	}
	return strconv.FormatFloat(float64(n)/1e6, 'f', 1, 64) + "M"
}

// A taskAct is an action that a person can take.
type taskAct struct {
	Do      string // value of the field do
	Label   string
	Why     string // the effect of the action
	Class   string // go, back or end, as for formButton
	Words   string // label of the note, "" if there is none
	Must    bool   // the note is required
	Confirm string // what the person confirms first
	Href    string // if set, the action is a link and not a form
}

// addActions adds the actions that are possible now, the most helpful first.
func (p *taskPage) addActions() {
	t, row := &p.Task, &p.Look
	add := func(a taskAct) { p.Acts = append(p.Acts, a) }
	if t.Asked != nil {
		add(taskAct{Do: "approve:" + t.Asked.To, Label: "Approve " + ansi.OneLine(t.Asked.To), Why: ansi.OneLine("the " + string(t.Asked.By) + " asks for it: " + t.Asked.Note), Class: "go", Words: "Reason (optional)"})
	}
	if row.Verb == explain.VerbAttach && p.Tab != tabTerminal {
		add(taskAct{Label: "Open the terminal", Why: "the agent waits in its terminal", Class: "go", Href: "/tasks/" + string(t.ID) + "?tab=terminal&role=" + url.QueryEscape(row.AtTerminal())})
	}
	if row.Answers {
		add(taskAct{Do: "answer", Label: "Answer", Class: "go", Words: "Your answer", Must: true})
	}
	if row.Kind == workflow.Queued && !t.Queued {
		add(taskAct{Do: "spawn", Label: "Start", Why: "the task gets a workspace and its first agent", Class: "go"})
	}
	if row.Life == overview.Dead || t.WorkFailed != "" || row.Wants == explain.ItemNoAnswer || row.Wants == explain.ItemNotStarted && row.Life != overview.Alive {
		if row.Kind != workflow.CheckDo {
			add(taskAct{Do: engine.Respawn, Label: restartLabel(row.Wants), Class: "go"})
		}
	}
	if row.Kind == workflow.CheckDo && row.MayCheck() {
		add(taskAct{Do: engine.VerbCheck, Label: "Run the checks again", Why: "the task continues with their result", Class: "go"})
	}
	if t.Paused || t.Attention != "" {
		add(taskAct{Do: "resume", Label: "Resume", Why: "the task continues, and failed effects are tried again", Class: "go"})
	}
	p.addDelivery(add)
	if row.Life == overview.Alive && row.Kind != workflow.CheckDo && row.Kind != workflow.Terminal {
		add(taskAct{Do: engine.VerbSend, Label: "Send a message", Why: "to the living agent; the task stays where it is", Words: "Message", Must: true})
	}
	if row.Life == overview.Alive && row.Kind == workflow.Agent {
		add(taskAct{Do: engine.Respawn + ":" + engine.Force, Label: "Replace the agent", Class: "end", Confirm: "The agent is ended, and another one starts in the same worktree. This does not count as a crash."})
	}
	if row.Life == overview.Alive && row.Kind != workflow.CheckDo && row.Kind != workflow.Terminal {
		add(taskAct{Do: engine.VerbStop, Label: "Stop the agent", Class: "end", Words: "Reason (optional)", Confirm: "The agent is ended. The task stays as it is, and no agent starts until you start one."})
	}
	p.addMoves(add)
	if !t.Paused && row.Kind != workflow.Terminal {
		add(taskAct{Do: "pause", Label: "Pause", Why: "nothing starts until the task is resumed"})
	}
	if row.Kind == workflow.Terminal {
		add(taskAct{Do: "delete", Label: "Delete", Class: "end", Confirm: "The task and its folder are deleted."})
	}
	for i := range p.Acts { // emphasize one action only
		switch a := &p.Acts[i]; {
		case a.Class != "go":
		case p.Main == nil:
			p.Main = a
		default:
			a.Class = ""
		}
	}
}

// restartLabel returns what starts an agent is called: one that a person stopped did not end by itself.
func restartLabel(wants explain.ItemKind) string {
	if wants == explain.ItemStopped {
		return "Start agent"
	}
	return "Start the agent again"
}

// addDelivery adds the actions that deliver the work.
func (p *taskPage) addDelivery(add func(taskAct)) {
	if k := p.Look.Kind; k != workflow.HumanDo && k != workflow.Halt {
		return
	}
	if p.Explain != nil && p.Explain.Cheapest.Action.Verb == engine.VerbMerge || p.Look.Verb == engine.VerbMerge {
		add(taskAct{Do: engine.VerbMerge, Label: "Merge", Why: "the branch is merged, and the task is done", Class: "go", Confirm: confirmMerge(p.Task.BaseBranch)})
	}
	if paths := task.PathsOf(p.Task.UnapprovedChanges()); len(paths) > 0 {
		add(taskAct{Do: engine.VerbApproveChanges, Label: "Approve these changes", Why: "it changes paths that need your approval: " + ansi.OneLine(humanize.FirstFew(paths, 5)), Class: "go"})
	}
	if p.Task.PRURL == "" {
		add(taskAct{Do: engine.VerbCreatePR, Label: "Create a pull request"})
	}
	add(taskAct{Do: engine.VerbPush, Label: "Push the branch"})
}

// addMoves adds the moves that the workflow allows a person.
func (p *taskPage) addMoves(add func(taskAct)) {
	kinds := func(state string) workflow.Kind {
		if s, ok := p.Def.StateNamed(state); ok {
			return s.Kind
		}
		return ""
	}
	for _, m := range p.Look.Moves {
		a := taskAct{Do: "move:" + m.To, Label: "Move to " + m.To, Why: m.As}
		closed := p.closedBecause(m)
		switch {
		case m.As == "request-changes":
			a = taskAct{Label: "Request changes", Href: "/tasks/" + string(p.Task.ID) + "?tab=changes#review", Class: "back", Why: "→ " + m.To}
		case m.As == "cancel":
			a.Class, a.Confirm, a.Words, a.Label = "end", "The task ends without a result.", "Reason (optional)", "Cancel the task"
		case m.As == "" && kinds(m.To) == workflow.Terminal:
			a.Class, a.Confirm = "end", "The task ends in "+m.To+"."
		case kinds(m.To) == workflow.Halt:
			a.Label, a.Words = "Mark as "+m.To, "Reason (optional)"
		case m.As == engine.Complete && !p.Look.Answers:
			a.Label = "Complete: move to " + m.To
			if closed == "" && !p.Task.Queued && p.Look.Kind != workflow.Agent && p.Look.Kind != workflow.CheckDo { // an agent does it there
				a.Class = "go"
			}
		}
		if closed != "" {
			a.Why = closed
		}
		add(a)
	}
}

// closedBecause returns why the workflow refuses a move now, or "" if it does not.
func (p *taskPage) closedBecause(m explain.Move) string {
	if p.Explain == nil {
		return ""
	}
	why := ""
	for _, e := range p.Explain.Edges {
		if e.To != m.To || m.As != "" && e.As != m.As {
			continue
		}
		if e.Open {
			return ""
		}
		why = ansi.OneLine(humanize.Cut(e.Closed, 300))
	}
	return why
}

// A taskAttempt is an attempt of a task, as the page shows it.
type taskAttempt struct {
	wire.Attempt
	How    string
	Bad    bool
	Lasted string
	Tokens string
	Cost   string
	Said   string // its last message
}

// taskAttempts describes attempts, the newest first. The start and end times come from the journal.
func taskAttempts(list []wire.Attempt, entries []journal.Entry, now time.Time) []taskAttempt {
	began, ended, failed := map[int]time.Time{}, map[int]time.Time{}, map[int]bool{}
	for i := range entries {
		for _, a := range entries[i].Started {
			began[a.Number] = entries[i].At
		}
		for _, gone := range entries[i].Ended {
			ended[gone.Number] = entries[i].At
			failed[gone.Number] = momentOf(&entries[i]).Mark == "bad"
		}
	}
	out := make([]taskAttempt, len(list))
	for i, a := range list {
		one := taskAttempt{Attempt: a, Said: ansi.SafeText(humanize.Cut(a.Final, maxWritten))}
		one.Harness, one.Model, one.Log = ansi.OneLine(a.Harness), ansi.OneLine(a.Model), ansi.OneLine(a.Log)
		one.How, one.Bad = describeAttempt(&a, now, failed[a.Number])
		begin, known := began[a.Number]
		if end, over := ended[a.Number]; over && known {
			one.Lasted = humanize.FormatDuration(end.Sub(begin))
		} else if a.Alive && known {
			one.Lasted = humanize.FormatAge(now, begin)
		}
		if u := a.Usage; u != nil {
			one.Tokens, one.Cost = shortNumber(u.InputTokens+u.OutputTokens), formatMoney(u.CostMicroUSD)
		}
		out[len(list)-1-i] = one
	}
	return out
}

// describeAttempt returns how an attempt is or how it ended. failed says that the engine took its end for a failure: an agent that was ended as
// ordered has a code other than 0, too.
func describeAttempt(a *wire.Attempt, now time.Time, failed bool) (how string, bad bool) {
	switch {
	case a.Alive:
		c := a.Condition
		c.Detail = humanize.Cut(c.Detail, 300)
		return ansi.OneLine(narrate.DescribeCondition(c, now)), c.IsBlocked()
	case a.Code == nil:
		return "lost", true
	case *a.Code > 128 && !failed:
		return "ended as ordered", false
	}
	return fmt.Sprintf("exit %d", *a.Code), *a.Code != 0
}

// taskForm is the data of an action's form.
type taskForm struct {
	Act     taskAct
	ID      task.ID
	CSRF    string
	Field   string // HTML id of the note
	Options []string
}

// Form returns the form of an action.
func (p *taskPage) Form(a taskAct) taskForm {
	out := taskForm{Act: a, ID: p.Task.ID, CSRF: p.CSRF, Field: "note-" + a.Do}
	if a.Do == "answer" {
		out.Options = p.Options
	}
	return out
}

// IsMain reports whether an action is the one that helps now.
func (p *taskPage) IsMain(a taskAct) bool { return p.Main != nil && *p.Main == a }

// Direct reports whether an action needs nothing but a click.
func (a taskAct) Direct() bool { return a.Words == "" && a.Confirm == "" }

// A taskHandoff is what the last stage wrote for the next one.
type taskHandoff struct {
	From, To, Summary string
	Lists             []taskHandoffList
}

type taskHandoffList struct {
	Name  string
	Items []string
}

// handoffOf returns the newest handoff of a task, or nil.
func handoffOf(t *task.Task) *taskHandoff {
	if len(t.Handoffs) == 0 {
		return nil
	}
	h := &t.Handoffs[len(t.Handoffs)-1]
	safe := func(s string) string { return ansi.SafeText(humanize.Cut(s, maxWritten)) }
	out := &taskHandoff{From: ansi.OneLine(h.From), To: ansi.OneLine(h.To), Summary: safe(h.Summary)}
	for _, l := range []struct {
		name  string
		items []string
	}{{"Decisions", h.Decisions}, {"Warnings", h.Warnings}, {"Remaining", h.Remaining}, {"Uncertain", h.Uncertain}} {
		if len(l.items) == 0 {
			continue
		}
		one := taskHandoffList{Name: l.name}
		for _, text := range l.items[:min(len(l.items), 20)] {
			one.Items = append(one.Items, safe(text))
		}
		out.Lists = append(out.Lists, one)
	}
	return out
}

// optionsOf returns the answers that a question offers: the items of the last list in it.
func optionsOf(list []explain.WaitReason) []string {
	for _, r := range list {
		if r.Kind != explain.BecauseOfQuestions && r.Kind != explain.BecauseOfMessage {
			continue
		}
		if out := question.ListOptions(withoutComments(r.Text)); len(out) > 0 {
			return out
		}
	}
	return nil
}
