package web

import (
	"cmp"
	"context"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/explain"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/ui/client"
	"orange/internal/view/ansi"
	"orange/internal/view/humanize"
	"orange/internal/view/markdown"
	"orange/internal/view/narrate"
	"orange/internal/view/overview"
	"orange/internal/wire"
)

func (s *Site) inboxRoutes(mux *http.ServeMux) {
	mux.HandleFunc("GET /inbox", s.serveInbox)
	mux.HandleFunc("POST /start", s.formHandler(s.startTasks))
	mux.HandleFunc("POST /projects/{project}/act", s.formHandler(s.helpProject))
}

// inboxData is the data of the inbox: a list of everything that waits, and one item of it.
type inboxData struct {
	page
	Project string // "" for all projects
	Kind    explain.ItemKind
	Kinds   []inboxKind
	Waiting int // number of items that wait for a person, of all kinds
	Behind  int // number of tasks in the whole backlog
	Groups  []inboxGroup
	Item    *inboxItem // that is shown, nil if nothing waits
	Chosen  bool       // the address names the item
}

// ProjectChosen returns the project of the filter.
func (d inboxData) ProjectChosen() string { return d.Project }

// inboxKind is a link to the items of one kind.
type inboxKind struct {
	Name  string
	Count int
	Href  string
	Here  bool
}

// An inboxGroup is a part of the list.
type inboxGroup struct {
	Name    string
	Count   int // listed or not
	Entries []inboxEntry
	Start   bool // its tasks can be started together
}

// An inboxEntry is a line of the list.
type inboxEntry struct {
	Key, Href      string
	Title, Project string
	Kind, Icon     string
	Since, Age     string
	Here           bool
	Alarming       bool
	Start          string // the task that can be started, "" for other kinds
}

// maxBacklog limits how many tasks of the backlog the page lists.
const maxBacklog = 500

// inboxItem is something that waits for a person, with the actions that help.
type inboxItem struct {
	Key                              string
	ID, Title, Where, Status, Branch string
	Project                          string
	StatusKind                       workflow.Kind
	Kind, Icon                       string
	Text                             string
	Do                               string // the command that helps
	Since, Age                       string
	Frees                            int
	All                              bool       // the item is about all tasks
	Help                             formButton // of an item about a project
	Size                             int        // of the pool, for it
	Ask                              string
	Words                            string   // text that fills the field in advance
	Options                          []string // answers that the question offers
	First, Others                    []formButton
	Type                             bool   // a line can be typed into the agent's terminal
	Role                             string // of that agent
	Reasons                          []reason
	Quotes                           bool   // the text quotes a reason that is shown below it
	Work                             card   // the size of the work, and what checked it
	Screen                           string // the last lines of the agent's terminal
	Seen                             string // names what the terminal shows, for a key
	Choices                          []terminalChoice
}

// itemKey identifies an item in an address. Items about a project or about everything have no task.
func itemKey(it *explain.Item) string {
	if it.Task != "" {
		return string(it.Task)
	}
	return strings.TrimSuffix(string(it.Kind)+"-"+it.Project, "-")
}

// kindText returns the kind of an item in words, without the address of the reader.
func kindText(kind explain.ItemKind) string { return strings.TrimPrefix(kind.Info().Badge, "You: ") }

func itemOf(it *explain.Item, now time.Time) inboxItem {
	out := inboxItem{
		Key: itemKey(it), ID: string(it.Task), Where: strings.TrimSuffix(it.Project+"/"+it.Branch, "/"), Project: it.Project, Branch: it.Branch, Status: it.Status, Text: it.Text, Do: it.Do,
		Since: isoTime(it.Since), Age: humanize.FormatAge(now, it.Since), Frees: it.Frees, All: it.Kind == explain.ItemPaused,
		Kind: kindText(it.Kind), Icon: lookOf(it.Kind).Icon, Reasons: reasonsOf(it.Reasons),
	}
	out.Quotes = len(out.Reasons) > 0 && out.Reasons[0].End
	switch it.Action.Verb {
	case explain.VerbResumeLanding:
		out.Help = formButton{Do: it.Action.Verb, Label: "Resume landing", Class: "go"}
	case explain.VerbEnlargePool:
		out.Help, out.Size = formButton{Do: it.Action.Verb, Label: fmt.Sprintf("Enlarge the pool to %d", it.Action.Size), Class: "go"}, it.Action.Size
	}
	return out
}

// helpProject does what an item about a project asks for.
func (s *Site) helpProject(w http.ResponseWriter, r *http.Request) error {
	project, goesOn := r.PathValue("project"), false
	change, done := wire.ProjectChange{HoldLanding: &goesOn}, "The landing queues of "+project+" go on."
	switch r.PostForm.Get("do") {
	case explain.VerbResumeLanding:
	case explain.VerbEnlargePool:
		size, err := strconv.Atoi(r.PostForm.Get("size"))
		if err != nil {
			return newRefusal(http.StatusBadRequest, "the size of a pool is a whole number")
		}
		change, done = wire.ProjectChange{PoolSize: &size}, fmt.Sprintf("The pool of %s has %d workspaces.", project, size)
	default:
		return newRefusal(http.StatusBadRequest, "that cannot be requested for a project")
	}
	if _, err := s.o.API.UpdateProject(r.Context(), project, change); err != nil {
		return err
	}
	s.finishForm(w, r, "/inbox", ansi.OneLine(done))
	return nil
}

// address returns the address of the inbox with other values of its query.
func (d *inboxData) address(kind explain.ItemKind, item string) string {
	q := url.Values{}
	for name, value := range map[string]string{"project": d.Project, "kind": string(kind), "item": item} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if len(q) == 0 {
		return "/inbox"
	}
	return "/inbox?" + q.Encode()
}

// ListLink returns the address of the list without an item.
func (d inboxData) ListLink() string { return d.address(d.Kind, "") }

// addKinds adds links to the items of each kind.
func (d *inboxData) addKinds(items []explain.Item) {
	d.Kinds = []inboxKind{{Name: "all", Count: d.Waiting, Href: d.address("", ""), Here: d.Kind == ""}}
	for _, kind := range explain.ItemKinds() {
		n := 0
		for i := range items {
			if items[i].Kind == kind {
				n++
			}
		}
		if n > 0 || kind == d.Kind {
			d.Kinds = append(d.Kinds, inboxKind{Name: kindText(kind), Count: n, Href: d.address(kind, ""), Here: kind == d.Kind})
		}
	}
}

// groupOf returns the place of an item in the list: what stops somebody now, work to review, and the backlog.
func groupOf(kind explain.ItemKind) int {
	switch kind {
	case explain.ItemReview:
		return 1
	case explain.ItemStart:
		return 2
	}
	return 0
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
	q := r.URL.Query()
	d.Project, d.Kind = ansi.OneLine(q.Get("project")), explain.ItemKind(q.Get("kind"))
	if !slices.Contains(explain.ItemKinds(), d.Kind) {
		d.Kind = ""
	}
	items := slices.DeleteFunc(state.InboxItems(), func(it explain.Item) bool { return d.Project != "" && it.Task != "" && it.Project != d.Project })
	d.Waiting, d.Behind = explain.CountInbox(items)
	d.addKinds(items)
	items = slices.DeleteFunc(items, func(it explain.Item) bool { return d.Kind != "" && it.Kind != d.Kind })
	slices.SortStableFunc(items, func(a, b explain.Item) int { return cmp.Compare(groupOf(a.Kind), groupOf(b.Kind)) })
	chosen := slices.IndexFunc(items, func(it explain.Item) bool { return itemKey(&it) == q.Get("item") })
	d.Chosen = chosen >= 0
	if !d.Chosen {
		chosen = 0
	}
	d.listItems(items, state.Tasks)
	if len(items) > 0 {
		item := s.fullItem(r.Context(), &items[chosen], &state, d.Now)
		d.Item = &item
		d.markEntry(item.Key)
	}
	s.renderPage(w, r, http.StatusOK, "inbox", d)
}

// listItems fills the list. Items are in the order of their groups.
func (d *inboxData) listItems(items []explain.Item, rows []overview.Row) {
	titles := map[task.ID]string{}
	for i := range rows {
		titles[rows[i].ID] = titleText(&rows[i])
	}
	d.Groups = []inboxGroup{{Name: "Now"}, {Name: "Reviews"}, {Name: "Backlog", Start: true}}
	for i := range items {
		it := &items[i]
		g := &d.Groups[groupOf(it.Kind)]
		if g.Count++; len(g.Entries) >= maxBacklog {
			continue
		}
		look, key := lookOf(it.Kind), itemKey(it)
		one := inboxEntry{
			Key: key, Href: d.address(d.Kind, key), Title: cmp.Or(titles[it.Task], it.Project, "Everything"), Project: it.Project, Kind: kindText(it.Kind), Icon: look.Icon,
			Since: isoTime(it.Since), Age: humanize.FormatAge(d.Now, it.Since), Alarming: it.Kind.Info().Alarming,
		}
		if g.Start {
			one.Start = string(it.Task)
		}
		g.Entries = append(g.Entries, one)
	}
	d.Groups = slices.DeleteFunc(d.Groups, func(g inboxGroup) bool { return g.Count == 0 })
}

// markEntry marks the entry whose item is shown.
func (d *inboxData) markEntry(key string) {
	for i := range d.Groups {
		for j := range d.Groups[i].Entries {
			e := &d.Groups[i].Entries[j]
			e.Here = e.Key == key
		}
	}
}

// fullItem returns an item with everything that helps to decide: the work, the answers that a question offers, and the
// end of the terminal where an agent waits.
func (s *Site) fullItem(ctx context.Context, it *explain.Item, state *overview.State, now time.Time) inboxItem {
	item := itemOf(it, now)
	at := slices.IndexFunc(state.Tasks, func(r overview.Row) bool { return r.ID == it.Task })
	if it.Task == "" || at < 0 {
		return item
	}
	row := &state.Tasks[at]
	item.Title, item.StatusKind = titleText(row), row.Kind
	item.Work.describeWork(row)
	s.addHelp(ctx, &item, row)
	if repeatsReason(it) {
		item.Text = ""
	}
	if item.Ask != "" {
		item.Options = optionsOf(it.Reasons)
	}
	if role := row.AtTerminal(); role != "" {
		item.showTerminal(ctx, s, role)
	}
	return item
}

// repeatsReason reports whether the text of an item is the beginning of a reason, which is shown in full.
func repeatsReason(it *explain.Item) bool {
	words := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	text := words(strings.TrimSuffix(it.Text, "..."))
	return text != "" && slices.ContainsFunc(it.Reasons, func(r explain.WaitReason) bool { return strings.HasPrefix(words(r.Text), text) })
}

// maxScreen is how many lines of a terminal an item shows.
const maxScreen = 20

// showTerminal adds the last lines of an agent's terminal and the answers of its dialog, if it can be read. A key is
// pressed only while the terminal still shows what the person saw.
func (it *inboxItem) showTerminal(ctx context.Context, s *Site, role string) {
	screen, err := s.o.API.ReadScreen(ctx, it.ID, role)
	if err != nil {
		return
	}
	it.Role = role
	if screen.Dialog && screen.Seen != "" {
		it.Seen, it.Choices = screen.Seen, choicesOf(screen.Choices)
	}
	for i := range it.First {
		if len(it.Choices) > 0 { // the answers are the usual action
			it.First[i].Class = ""
		}
	}
	var lines []string
	for _, line := range screen.Lines {
		var b strings.Builder
		for _, run := range line {
			b.WriteString(run.Text)
		}
		lines = append(lines, strings.TrimRight(ansi.SafeText(b.String()), " "))
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	it.Screen = strings.TrimLeft(strings.Join(lines[max(0, len(lines)-maxScreen):], "\n"), "\n")
}

// startTasks starts several tasks of the backlog.
func (s *Site) startTasks(w http.ResponseWriter, r *http.Request) error {
	ids := r.PostForm["id"]
	if len(ids) == 0 {
		return newRefusal(http.StatusBadRequest, "no task is selected: select the tasks to start")
	}
	if len(ids) > maxBacklog {
		return newRefusal(http.StatusBadRequest, "more than %d tasks are selected: select fewer", maxBacklog)
	}
	started, refused := 0, ""
	for _, id := range ids {
		if _, err := s.o.API.SendSignal(r.Context(), id, signal.Signal{Kind: signal.Ready}); err != nil {
			refused = cmp.Or(refused, humanize.ShortID(id)+": "+ansi.OneLine(humanize.Cut(err.Error(), maxMessage)))
			continue
		}
		started++
	}
	if refused != "" {
		return newRefusal(http.StatusConflict, "started %s; refused %s", humanize.Plural(started, "task"), refused)
	}
	s.finishForm(w, r, cmp.Or(r.PostForm.Get("back"), "/inbox"), "Started "+humanize.Plural(started, "task")+".")
	return nil
}

// addHelp adds the actions that help a task: the text that is expected, the buttons for what the item
// needs, and all other moves.
func (s *Site) addHelp(ctx context.Context, it *inboxItem, r *overview.Row) {
	button := func(do, label, class string) {
		it.First = append(it.First, formButton{Do: do, Label: label, Class: class})
	}
	switch r.Verb {
	case engine.VerbMerge:
		it.First = append(it.First, formButton{Do: engine.VerbMerge, Label: "Merge", Class: "go", Ask: confirmMerge(""), ID: "merge-" + string(r.ID)})
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
		button(engine.Respawn, restartLabel(r.Wants), "go")
	case explain.VerbSpawn:
		button(explain.VerbSpawn, "Start", "go")
	}
	if href, _ := cardHref(r.Tracker); href != "" && r.Wants == explain.ItemBoard {
		it.First = append(it.First, formButton{Label: "Open the card", Class: "go", Href: href})
	}
	switch {
	case r.Wants == explain.ItemAttention:
		button(explain.VerbResume, "Try again", "")
	case r.Wants == explain.ItemReview && r.May(engine.RequestChanges):
		it.Ask = "What to change"
	}
	for _, w := range moveButtons(r.ID, r.Moves, s.endPredicate(ctx, r.WorkflowHash)) {
		if w.Do == engine.RequestChanges {
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
