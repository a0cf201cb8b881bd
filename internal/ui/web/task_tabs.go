package web

import (
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"orange/internal/core/explain"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
	"orange/internal/core/workflow"
	"orange/internal/view/ansi"
	"orange/internal/view/humanize"
	"orange/internal/view/markdown"
	"orange/internal/view/narrate"
	"orange/internal/view/overview"
	"orange/internal/wire"
)

// The tabs of a task's page.
const (
	tabChanges  = "changes"
	tabOverview = "overview"
	tabTerminal = "terminal"
	tabLog      = "log"
	tabTimeline = "timeline"
	tabWorkflow = "workflow"
)

// A taskTab is a link to a part of the page.
type taskTab struct {
	Name, Label, Href string
	Here              bool
	Added, Deleted    int // of the tab with the changes
	Count             string
}

var tabNames = []struct{ name, label string }{
	{tabChanges, "Changes"}, {tabOverview, "Overview"}, {tabTerminal, "Terminal"}, {tabLog, "Log"}, {tabTimeline, "Timeline"}, {tabWorkflow, "Workflow"},
}

// chooseTab returns the tab that the request names, or the one that answers the question a person has now: is the work good, what does the
// agent do, or what is the task about.
func (p *taskPage) chooseTab(r *http.Request) string {
	asked := r.URL.Query().Get("tab")
	if slices.ContainsFunc(tabNames, func(t struct{ name, label string }) bool { return t.name == asked }) {
		return asked
	}
	row := &p.Look
	work := row.Work != nil && (row.Work.Commits > 0 || row.Work.Files > 0 || row.Work.Added > 0 || row.Work.Deleted > 0) || p.Task.Work != nil
	switch {
	case p.Past:
		return tabWorkflow
	case row.Verb == explain.VerbAttach:
		return tabTerminal
	case row.Answers:
		return tabOverview
	case work && (row.Kind == workflow.HumanDo || row.Kind == workflow.Halt || row.Kind == workflow.Terminal || row.Kind == workflow.CheckDo || row.Landing != nil):
		return tabChanges
	case row.Life == overview.Alive:
		return tabTerminal
	case work:
		return tabChanges
	}
	return tabOverview
}

// addTabs sets the links of the tabs. A moment of the past has only those that the journal can show.
func (p *taskPage) addTabs() {
	base := "/tasks/" + string(p.Task.ID) + "?tab="
	for _, t := range tabNames {
		if p.Past && t.name != tabTimeline && t.name != tabWorkflow {
			continue
		}
		one := taskTab{Name: t.name, Label: t.label, Href: base + t.name, Here: t.name == p.Tab}
		if p.Past {
			one.Href += "&at=" + strconv.Itoa(p.Scrub.At)
		}
		switch w := p.Look.Work; {
		case t.name == tabChanges && w != nil:
			one.Added, one.Deleted = w.Added, w.Deleted
		case t.name == tabTimeline:
			one.Count = strconv.Itoa(p.Task.Seq)
		case t.name == tabLog && p.Task.AttemptCount() > 0:
			one.Count = strconv.Itoa(p.Task.AttemptCount())
		}
		p.Tabs = append(p.Tabs, one)
	}
}

// A taskStep is a state on the way of a task.
type taskStep struct {
	Name string
	Kind workflow.Kind
	Past bool
	Here bool
}

// maxSteps limits how many states the stepper shows.
const maxSteps = 12

// stepsOf returns the states that a task passed, the present one, and the shortest way from there to an end that is not a cancellation.
func stepsOf(def *workflow.Definition, path []string, now string) []taskStep {
	var out []taskStep
	add := func(name string, past bool) {
		if name == now && past || slices.ContainsFunc(out, func(s taskStep) bool { return s.Name == name }) {
			return
		}
		s := taskStep{Name: name, Past: past, Here: name == now}
		if def != nil {
			if st, ok := def.StateNamed(name); ok {
				s.Kind = st.Kind
			}
		}
		out = append(out, s)
	}
	until := slices.Index(path, now)
	if until < 0 {
		until = len(path)
	}
	for _, name := range path[:until] {
		add(name, true)
	}
	add(now, false)
	for _, name := range wayToEnd(def, now) {
		add(name, false)
	}
	if n := len(out); n > maxSteps {
		out = slices.Concat(out[:maxSteps/2], []taskStep{{Name: "…"}}, out[n-maxSteps/2:])
	}
	return out
}

// wayToEnd returns the states behind a state on the shortest way to a terminal one. Cancelling is no way, and neither is a state in which work
// is stuck.
func wayToEnd(def *workflow.Definition, from string) []string {
	if def == nil {
		return nil
	}
	came := map[string]string{from: ""}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if s, ok := def.StateNamed(at); ok && s.Kind == workflow.Terminal {
			var out []string
			for ; at != from; at = came[at] {
				out = append(out, at)
			}
			slices.Reverse(out)
			return out
		}
		for _, i := range def.EdgesFrom(at) {
			e := &def.Edges[i]
			s, ok := def.StateNamed(e.To)
			if _, seen := came[e.To]; seen || !ok || s.Kind == workflow.Halt || e.As == "cancel" || e.As == "" && s.Kind == workflow.Terminal && len(e.Gates) == 0 && strings.Contains(e.To, "cancel") {
				continue
			}
			came[e.To] = at
			queue = append(queue, e.To)
		}
	}
	return nil
}

// relatedTasks lists the tasks that the task is after, those that wait for it, and its children.
func (p *taskPage) relatedTasks() []taskFact {
	var out []taskFact
	add := func(name, text string, id task.ID) {
		out = append(out, taskFact{name, ansi.OneLine(text), "/tasks/" + string(id)})
	}
	for _, before := range p.Task.Predecessors {
		add("After", narrate.ListPredecessors([]task.Predecessor{before}), before.ID)
	}
	for _, later := range p.Unblocks {
		add("Unblocks", narrate.ListReferences([]task.Reference{later}), later.ID)
	}
	for _, child := range p.Children {
		add("Child", narrate.ListReferences([]task.Reference{child}), child.ID)
	}
	return out
}

// describeBlock returns what keeps a task from going on, what waits for it, and its place in the landing queue, with
// facts of the same name together.
func (p *taskPage) describeBlock(v *wire.TaskDetails) [][]taskFact {
	facts := p.relatedTasks()
	if text := v.DescribeLanding(); text != "" {
		facts = append(facts, taskFact{"Landing", ansi.OneLine(text), ""})
	}
	var out [][]taskFact
	for _, f := range facts {
		if last := len(out) - 1; last >= 0 && out[last][0].Name == f.Name {
			out[last] = append(out[last], f)
		} else {
			out = append(out, []taskFact{f})
		}
	}
	return out
}

// DecideHref returns where the decision is made, or "" if this tab shows it.
func (p *taskPage) DecideHref() string {
	tab := tabOverview
	if p.MayReview() {
		tab = tabChanges
	}
	if p.Tab == tab || p.Tab == tabTerminal && tab != tabChanges {
		return ""
	}
	return "/tasks/" + string(p.Task.ID) + "?tab=" + tab + "#task-decide"
}

// WantsText returns what the task needs a person for. The page shows the questions themselves.
func (p *taskPage) WantsText() string {
	text, _, _ := strings.Cut(p.Look.Text, ": see ## ")
	return text
}

// sectionReason returns a section of TASK.md as a quotation, or nothing if there is none.
func sectionReason(v *wire.TaskDetails, name string) []reason {
	doc, err := taskfile.Parse([]byte(v.Body))
	if err != nil {
		return nil
	}
	for _, s := range doc.Sections() {
		if s.Name == name && strings.TrimSpace(s.Text) != "" {
			text := template.HTML(markdown.RenderHTML(withoutComments(humanize.Cut(s.Text, maxWritten)))) //nolint:gosec // HTML in it is text
			return []reason{{Heading: name, Text: text}}
		}
	}
	return nil
}
