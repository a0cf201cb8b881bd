package web

import (
	"context"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/explain"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/ui/client"
	"orange/internal/view/ansi"
	"orange/internal/view/humanize"
	"orange/internal/view/markdown"
	"orange/internal/view/narrate"
	"orange/internal/view/overview"
)

func (s *Site) inboxRoutes(mux *http.ServeMux) {
	mux.HandleFunc("GET /inbox", s.serveInbox)
}

type inboxData struct {
	page
	Project string // "" for all projects
	Kind    explain.ItemKind
	Grouped bool // items of one kind are grouped
	Kinds   []inboxKind
	Waiting int // number of items that wait for a person, of all kinds
	Items   []inboxItem
	Backlog []inboxItem // tasks that were created and not started
	Behind  int         // number of tasks in the whole backlog
	Switch  string      // address of the page with the other grouping
}

// inboxKind is a link to the items of one kind.
type inboxKind struct {
	Name  string
	Count int
	Href  string
	Here  bool
}

// maxBacklog limits how many tasks of the backlog the page lists.
const maxBacklog = 500

// inboxItem is something that waits for a person, with the actions that help.
type inboxItem struct {
	ID, Title, Where, Status string
	Kind                     string // in two words
	Text                     string
	Do                       string // the command that helps
	Since, Age               string
	Frees                    int
	All                      bool // the item is about all tasks
	Ask                      string
	Words                    string // text that fills the field in advance
	First, Others            []formButton
	Type                     bool   // a line can be typed into the agent's terminal
	Role                     string // of that agent
	Reasons                  []reason
	Quotes                   bool   // the text quotes a reason that is shown below it
	Group                    string // heading above the item, "" for none
}

func itemOf(it *explain.Item, now time.Time) inboxItem {
	out := inboxItem{
		ID: string(it.Task), Where: strings.TrimSuffix(it.Project+"/"+it.Branch, "/"), Status: it.Status, Text: it.Text, Do: it.Do,
		Since: isoTime(it.Since), Age: humanize.FormatAge(now, it.Since), Frees: it.Frees, All: it.Kind == explain.ItemPaused,
		Kind: strings.TrimPrefix(it.Kind.Info().Badge, "You: "), Reasons: reasonsOf(it.Reasons),
	}
	out.Quotes = len(out.Reasons) > 0 && out.Reasons[0].End
	return out
}

// addLinks adds links to the items of each kind, and to the page with the other grouping.
func (d *inboxData) addLinks(items []explain.Item) {
	at := func(kind explain.ItemKind, grouped bool) string {
		q := url.Values{}
		for name, value := range map[string]string{"project": d.Project, "kind": string(kind)} {
			if value != "" {
				q.Set(name, value)
			}
		}
		if grouped {
			q.Set("group", "kind")
		}
		if len(q) == 0 {
			return "/inbox"
		}
		return "/inbox?" + q.Encode()
	}
	d.Switch = at(d.Kind, !d.Grouped)
	d.Kinds = []inboxKind{{Name: "all", Count: d.Waiting, Href: at("", d.Grouped), Here: d.Kind == ""}}
	for _, kind := range explain.ItemKinds() {
		n := 0
		for i := range items {
			if items[i].Kind == kind {
				n++
			}
		}
		if n > 0 || kind == d.Kind {
			d.Kinds = append(d.Kinds, inboxKind{Name: strings.TrimPrefix(kind.Info().Badge, "You: "), Count: n, Href: at(kind, d.Grouped), Here: kind == d.Kind})
		}
	}
}

// reason is why a task waits. Text is safe HTML: markup in the original is escaped.
type reason struct {
	Heading string
	Text    template.HTML
	End     bool // scroll to the end, where an agent's question is
}

func reasonsOf(list []explain.WaitReason) []reason {
	var out []reason
	for _, r := range list {
		text := template.HTML(markdown.RenderHTML(r.Text)) //nolint:gosec // HTML in it is text
		out = append(out, reason{ansi.OneLine(narrate.DescribeReason(r)), text, r.Kind == explain.BecauseOfMessage})
	}
	return out
}

func (s *Site) serveInbox(w http.ResponseWriter, r *http.Request) {
	state, err := s.o.API.ReadState(r.Context(), client.StateQuery{})
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	d := inboxData{page: s.pageOf(r, &state)}
	d.Topic = "all"
	rows := map[task.ID]*overview.Row{}
	for i := range state.Tasks {
		rows[state.Tasks[i].ID] = &state.Tasks[i]
	}
	q := r.URL.Query()
	d.Project, d.Kind, d.Grouped = ansi.OneLine(q.Get("project")), explain.ItemKind(q.Get("kind")), q.Get("group") == "kind"
	if !slices.Contains(explain.ItemKinds(), d.Kind) {
		d.Kind = ""
	}
	items := slices.DeleteFunc(state.InboxItems(), func(it explain.Item) bool { return d.Project != "" && it.Task != "" && it.Project != d.Project })
	d.Waiting, d.Behind = explain.CountInbox(items)
	d.addLinks(items)
	if d.Grouped {
		items = explain.GroupInbox(items)
	}
	for i := range items {
		it := &items[i]
		switch item := itemOf(it, d.Now); {
		case d.Kind != "" && it.Kind != d.Kind:
		case it.Kind == explain.ItemStart && len(d.Backlog) < maxBacklog:
			if row := rows[it.Task]; row != nil {
				item.Title = titleText(row)
			}
			d.Backlog = append(d.Backlog, item)
		case it.Kind != explain.ItemStart:
			if row := rows[it.Task]; row != nil {
				item.Title = titleText(row)
				s.addHelp(r.Context(), &item, row)
			}
			if d.Grouped && (len(d.Items) == 0 || d.Items[len(d.Items)-1].Kind != item.Kind) {
				item.Group = item.Kind
			}
			d.Items = append(d.Items, item)
		}
	}
	s.renderPage(w, r, http.StatusOK, "inbox", d)
}

// addHelp adds the actions that help a task: the text that is expected, the buttons for what the item
// needs, and all other moves.
func (s *Site) addHelp(ctx context.Context, it *inboxItem, r *overview.Row) {
	button := func(do, label, class string) {
		it.First = append(it.First, formButton{Do: do, Label: label, Class: class})
	}
	switch r.Verb {
	case engine.VerbMerge:
		button(engine.VerbMerge, "Merge", "go")
	case engine.VerbApproveChanges:
		button(engine.VerbApproveChanges, "Approve these changes", "go")
	case engine.RequestChanges:
		it.Ask, it.Words = "What to change", r.Note
	case explain.VerbApprove:
		if to := s.askedFor(ctx, r.ID); to != "" {
			it.Ask = "Why (optional)"
			button("approve:"+to, "Approve "+ansi.OneLine(to), "go")
		}
	case explain.VerbAttach:
		it.atTerminal(r)
		it.Type = s.o.Input
	case engine.VerbAnswer:
		it.Ask = "Your answer"
		button(engine.VerbAnswer, "Answer", "go")
	case engine.Respawn:
		if r.Kind == workflow.CheckDo {
			button(engine.VerbCheck, "Run the checks again", "go")
			break
		}
		it.Ask = "Message for the next agent (optional)"
		button(engine.Respawn, "Start again", "go")
	case explain.VerbSpawn:
		button(explain.VerbSpawn, "Start", "go")
	}
	switch {
	case r.Wants == explain.ItemAttention:
		button(explain.VerbResume, "Try again", "")
	case r.Wants == explain.ItemReview && r.May(engine.RequestChanges):
		it.Ask = "What to change"
	}
	for _, w := range moveButtons(r.ID, r.Moves, s.endPredicate(ctx, r.WorkflowHash)) {
		if w.Do == engine.RequestChanges {
			w.Label = "Request changes"
			it.First = append(it.First, w)
			continue
		}
		it.Others = append(it.Others, w)
	}
}

// askedFor returns the state that a task asks a person to approve, or "" if it no longer asks.
func (s *Site) askedFor(ctx context.Context, id task.ID) string {
	v, err := s.o.API.ReadTask(ctx, string(id))
	if err != nil || v.Task.Asked == nil {
		return ""
	}
	return v.Task.Asked.To
}

// atTerminal links to the terminal of the agent that waits there. The agent reads an answer only at
// its terminal.
func (it *inboxItem) atTerminal(r *overview.Row) {
	it.Role = r.AtTerminal()
	to := "/tasks/" + string(r.ID) + "/terminal"
	if it.Role != "" {
		to += "?role=" + url.QueryEscape(it.Role)
	}
	it.First = append(it.First, formButton{Label: "Open the terminal", Class: "go", Href: to})
}
