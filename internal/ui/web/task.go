package web

import (
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"orange/internal/core/explain"
	"orange/internal/core/journal"
	"orange/internal/core/prompt"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
	"orange/internal/core/workflow"
	"orange/internal/ui/client"
	"orange/internal/view/ansi"
	"orange/internal/view/diff"
	"orange/internal/view/drawing"
	"orange/internal/view/humanize"
	"orange/internal/view/markdown"
	"orange/internal/view/overview"
	"orange/internal/wire"
)

// maxBody limits how much of TASK.md a page shows, in bytes.
const maxBody = 256 << 10

// taskRoutes registers the pages of one task.
func (s *Site) taskRoutes(mux *http.ServeMux) {
	mux.HandleFunc("GET /tasks/{id}", s.serveTask)
	mux.HandleFunc("GET /tasks/{name...}", s.findTask)
	mux.HandleFunc("POST /tasks/{id}/review", s.formHandler(s.submitReview))
	mux.HandleFunc("POST /tasks/{id}/edit", s.formHandler(s.submitEdit))
	mux.HandleFunc("GET /tasks/{id}/file", s.serveFile)
	mux.HandleFunc("GET /tasks/{id}/lines", s.serveLines)
	mux.HandleFunc("GET /tasks/{id}/image", s.serveImage)
	mux.HandleFunc("GET /tasks/{id}/terminal", s.redirectToTerminal)
	mux.HandleFunc("GET /tasks/{id}/terminal/events", s.terminalEvents)
	mux.HandleFunc("POST /tasks/{id}/type", s.formHandler(s.typeLine))
	mux.HandleFunc("POST /tasks/{id}/keys", s.formHandler(s.pressKey))
	mux.HandleFunc("GET /static/terminal.css", stylesheetHandler(terminalCSS()))
	mux.HandleFunc("GET /static/drawing.css", stylesheetHandler(themed(drawing.CSS())))
}

// stylesheetHandler serves a generated stylesheet.
func stylesheetHandler(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/css; charset=utf-8")
		w.Header().Set("Cache-Control", "no-cache")
		w.Write([]byte(text)) //nolint:errcheck // the client left
	}
}

// taskPage is the data of a task's page.
type taskPage struct {
	page
	Task     task.Task
	Name     string
	Title    string
	Look     overview.Row
	Def      *workflow.Definition // nil if it cannot be read
	Tab      string
	Tabs     []taskTab
	Steps    []taskStep
	Blocks   [][]taskFact // by name: what keeps the task from going on, and what waits for it
	Drawing  template.HTML
	Facts    []taskFact
	Checks   []taskCheck
	Acts     []taskAct
	Main     *taskAct // the action that helps now
	Explain  *explain.Explanation
	Handoff  *taskHandoff
	Body     template.HTML
	Given    string // the requirements, to be edited
	Options  []string
	Attempts []taskAttempt
	Log      *taskLog
	Terminal *terminalView
	Moments  []taskMoment
	Older    int  // number of moments that are not shown
	OldFirst bool // the timeline starts with the oldest
	Diff     *taskDiff
	Scrub    *taskScrub
	Partial  bool     // the slow parts are left out, because a script asked
	Reasons  []reason // why the task waits for a person
	Unblocks []task.Reference
	Children []task.Reference // known in the present only, like Worktree
	Worktree string           // folder in which its agents work, "" while it has none

	EditorLink template.URL // opens the worktree in the editor of the person, "" if no editor is set

	BodyProblem, AttemptsProblem, DiffProblem, ExplainProblem string
}

// serveTask serves the page of one task, in the present or at a moment of its past.
func (s *Site) serveTask(w http.ResponseWriter, r *http.Request) {
	if at := r.URL.Query().Get("at"); at != "" {
		s.taskPast(w, r, at)
		return
	}
	data, err := s.taskNow(r, &taskWords{})
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	if given := r.PathValue("id"); given != string(data.Task.ID) { // it was another name of the task
		redirectToTask(w, r, data.Task.ID)
		return
	}
	s.renderPage(w, r, http.StatusOK, "task", data)
}

// findTask redirects from the name of a task that has slashes, as people type it, to the page of the task.
func (s *Site) findTask(w http.ResponseWriter, r *http.Request) {
	v, err := s.o.API.ReadTask(r.Context(), r.PathValue("name"))
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	redirectToTask(w, r, v.Task.ID)
}

func redirectToTask(w http.ResponseWriter, r *http.Request, id task.ID) {
	to := "/tasks/" + string(id)
	if r.URL.RawQuery != "" {
		to += "?" + r.URL.RawQuery
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// taskWords is a review that was refused, to be shown again.
type taskWords struct {
	whole   string
	remarks []diff.Remark
}

// taskNow collects the data of a task's page in the present. If anything but the task itself cannot be
// read, the page shows the error in its place.
func (s *Site) taskNow(r *http.Request, said *taskWords) (*taskPage, error) {
	id := r.PathValue("id")
	ctx, api, q := r.Context(), s.o.API, r.URL.Query()
	around := s.loadFleetSummary(r) // read it first: the page receives every change after it
	v, err := api.ReadTask(ctx, id)
	if err != nil {
		return nil, err
	}
	id = string(v.Task.ID)
	entries, err := api.ReadJournal(ctx, id, 0)
	if err != nil {
		return nil, err
	}
	out := s.taskBase(r, around, v.Task, entries)
	out.Children, out.Worktree, out.EditorLink = v.Children, v.Worktree, s.editorLink(v.Worktree)
	out.Facts = taskFacts(out)
	out.Topic = "task:" + id
	out.Reasons, out.Options = reasonsOf(v.Reasons), optionsOf(v.Reasons)
	out.Partial, out.OldFirst = r.Header.Get("Sec-Fetch-Dest") == "empty", q.Get("order") == "old"
	out.Tab = out.chooseTab(r)
	if len(said.remarks) > 0 || said.whole != "" {
		out.Tab = tabChanges
	}
	out.addTabs()
	out.Blocks = out.describeBlock(&v)
	var refused []journal.Refusal
	if x, err := api.ExplainTask(ctx, id); err != nil {
		out.ExplainProblem = ansi.OneLine(err.Error())
	} else {
		out.Explain, refused = &x, x.Refusals
	}
	out.addActions()
	switch out.Tab {
	case tabChanges:
		if out.Handoff = handoffOf(&v.Task); out.Handoff == nil && out.Look.Kind == workflow.HumanDo {
			out.Reasons = append(sectionReason(&v, "Handoff"), out.Reasons...)
		}
		if !out.Partial {
			s.addDiff(r, out, said, threadsOf(entries, v.Body))
		}
	case tabOverview:
		out.fillText(&v)
		out.fillAttempts(s, r, entries)
	case tabTerminal:
		out.Terminal = s.terminalOf(r, &v.Task)
	case tabLog:
		out.fillAttempts(s, r, entries)
		s.addLog(r, out)
	case tabTimeline:
		out.fillTimeline(taskMoments(entries, refused), q.Get("entries") == "all")
	}
	return out, nil
}

// editorLink returns the address that opens a folder in the editor of the person. The address is the person's own, from
// config.json.
func (s *Site) editorLink(dir string) template.URL {
	path := (&url.URL{Path: dir}).EscapedPath()
	return template.URL(strings.ReplaceAll(s.o.EditorLink, "{path}", path))
}

// fillAttempts adds the attempts of the task.
func (p *taskPage) fillAttempts(s *Site, r *http.Request, entries []journal.Entry) {
	list, err := s.o.API.ListAttempts(r.Context(), string(p.Task.ID))
	if err != nil {
		p.AttemptsProblem = ansi.OneLine(err.Error())
		return
	}
	p.Attempts = taskAttempts(list, entries, p.Now)
}

// fleetSummary is what the page of one task shows about all tasks.
type fleetSummary struct {
	page page
	rows []overview.Row
}

// loadFleetSummary reads the state of all tasks. If that fails, it returns what it knows without it.
func (s *Site) loadFleetSummary(r *http.Request) fleetSummary {
	state, err := s.o.API.ReadState(r.Context(), client.StateQuery{})
	if err != nil {
		return fleetSummary{page: s.blankPage(r)}
	}
	return fleetSummary{s.pageOf(r, &state), state.Tasks}
}

// taskBase returns the data of a task's page that comes from its record and its journal.
func (s *Site) taskBase(r *http.Request, around fleetSummary, t task.Task, entries []journal.Entry) *taskPage {
	out := &taskPage{page: around.page, Task: t, Name: taskName(&t), Def: s.loadDefinition(r.Context(), t.WorkflowHash), Unblocks: overview.SuccessorsOf(around.rows, t.ID)}
	if out.Def != nil {
		out.Def = out.Def.ForTask(t.Checks)
	}
	out.Look = overview.NewRow(out.Def, &t, overview.Facts{}, out.Now)
	for i := range around.rows {
		one := &around.rows[i]
		if one.ID != t.ID {
			continue
		}
		out.Look.Work = one.Work // not part of the journal
		if one.Seq >= t.Seq {
			out.Look.PR = one.PR
		}
		if one.Seq == t.Seq {
			out.Look.Moves = one.Moves // they may depend on child tasks
		}
	}
	out.Title = titleText(&out.Look)
	out.Checks = taskChecks(&out.Task, &out.Look, out.Now)
	out.Scrub = scrubOf(string(t.ID), len(entries), entries)
	out.drawWorkflow(taskPath(entries))
	out.Steps = stepsOf(out.Def, taskPath(entries), t.Status)
	return out
}

// drawWorkflow draws the workflow and the task's path through it. The drawing contains only fixed text
// and escaped names.
func (p *taskPage) drawWorkflow(path []string) {
	if p.Def == nil {
		return
	}
	m := drawing.Marks{Path: path, Live: !p.Past && p.Look.Life == overview.Alive, Links: "/workflows/" + p.Task.WorkflowHash + "#state-"}
	p.Drawing = template.HTML(drawing.RenderPage(p.Def, m)) //nolint:gosec // made and escaped by us
}

// fillTimeline sets the timeline to the newest moments, or to all of them.
func (p *taskPage) fillTimeline(list []taskMoment, all bool) {
	if !all && len(list) > maxMoments {
		p.Older = len(list) - maxMoments
		list = list[p.Older:]
	}
	if !p.OldFirst {
		slices.Reverse(list)
	}
	clock := ""
	for i := range list {
		m := &list[i]
		p.linkMoment(m)
		if m.Seq > 0 {
			m.Anchor = "e" + strconv.Itoa(m.Seq)
		}
		if now := humanize.FormatTime(p.Now, m.At); now != clock {
			m.Clock, clock = now, now
		}
	}
	p.Moments = list
}

// linkMoment sets the links of a moment.
func (p *taskPage) linkMoment(m *taskMoment) {
	m.LineHref = "/workflows/" + p.Task.WorkflowHash + "#L" + strconv.Itoa(m.Line)
	if m.Seq > 0 {
		m.Href = "/tasks/" + string(p.Task.ID) + "?at=" + strconv.Itoa(m.Seq)
	}
}

// fillText renders TASK.md.
func (p *taskPage) fillText(v *wire.TaskDetails) {
	body := v.Body
	p.BodyProblem = ansi.OneLine(v.Problem)
	if len(body) > maxBody {
		body = strings.ToValidUTF8(body[:maxBody], "")
		p.BodyProblem = "the text was cut here: see TASK.md in " + ansi.OneLine(v.Dir)
	}
	p.Body = template.HTML(markdown.RenderHTML(withoutComments(body))) //nolint:gosec // HTML in it is text
	if doc, err := taskfile.Parse([]byte(v.Body)); err == nil {
		given, _ := prompt.ReadGiven(doc.Sections())
		p.Given = strings.TrimSpace(given)
	}
}

// withoutComments returns a text without its HTML comments, which are notes for programs. It leaves code as it is.
func withoutComments(text string) string {
	var out strings.Builder
	fence, inside := false, false
	for line := range strings.Lines(text) {
		if trimmed := strings.TrimSpace(line); !inside && (strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~")) {
			fence = !fence
		}
		for rest := line; rest != ""; {
			if inside {
				_, after, end := strings.Cut(rest, "-->")
				inside = !end
				rest = after
				continue
			}
			before, after, begins := strings.Cut(rest, "<!--")
			if fence || !begins || strings.Contains(before, "`") {
				out.WriteString(rest)
				break
			}
			out.WriteString(before)
			rest, inside = after, true
		}
	}
	return out.String()
}

// taskName returns the name of a task as people write it.
func taskName(t *task.Task) string { return ansi.OneLine(humanize.Cut(t.Project+"/"+t.Branch, 300)) }

// submitReview sends work back with remarks about its lines. If the server refuses, it shows the page
// again with everything that was written.
func (s *Site) submitReview(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("id")
	whole, err := noteOf(r)
	if err != nil {
		return err
	}
	remarks, err := readRemarks(r.PostForm)
	if err != nil {
		return err
	}
	v, err := s.o.API.ReadTask(r.Context(), id)
	if err != nil {
		return err
	}
	s.quoteLines(r, v.Task.ID, remarks)
	note := diff.DescribeRemarks(whole, v.Task.Seq, remarks)
	switch {
	case note == "":
		err = newRefusal(http.StatusBadRequest, "the message is empty: write what to change")
	case len(note) > maxReview:
		err = newRefusal(http.StatusBadRequest, "the remarks are longer than 64 KB: shorten them")
	default:
		var a wire.Answer
		sig := signal.Signal{Kind: signal.Request, Verb: "request-changes", Note: note}
		if a, err = s.o.API.SendSignal(r.Context(), id, sig); err == nil {
			s.finishForm(w, r, "/tasks/"+string(a.Task.ID), describeOutcome(sig, a))
			return nil
		}
	}
	if wantsJSON(r) {
		return err
	}
	data, broken := s.taskNow(r, &taskWords{whole, remarks})
	if broken != nil {
		return err
	}
	data.Said, data.SaidBad = ansi.OneLine(humanize.Cut(err.Error(), maxMessage)), true
	s.renderPage(w, r, statusOf(err), "task", data)
	return nil
}

// maxReview limits the size of a review, in bytes, as on the command line.
const maxReview = 64 << 10

// A taskScrub is a position in the history of a task.
type taskScrub struct {
	Base        string // address of the task
	At, Last    int    // entries
	First, Back string // addresses, "" if there is none
	Next        string
	Now         bool
	Ticks       ticks
	Entry       *taskMoment
}

func scrubOf(id string, at int, entries []journal.Entry) *taskScrub {
	last := len(entries)
	base := "/tasks/" + id
	link := func(n int) string { return base + "?tab=" + tabWorkflow + "&at=" + strconv.Itoa(n) }
	out := &taskScrub{Base: base, At: at, Last: last, Now: at == last, Ticks: ticks{last: int64(last)}}
	for i := range entries {
		if entries[i].Type == journal.StatusChanged {
			out.Ticks.at = append(out.Ticks.at, int64(i+1))
		}
	}
	if at > 1 {
		out.First, out.Back = link(1), link(at-1)
	}
	if at < last {
		out.Next = link(at + 1)
	}
	return out
}

// taskPast serves the page of a task as it was after an entry of its journal.
func (s *Site) taskPast(w http.ResponseWriter, r *http.Request, at string) {
	around := s.loadFleetSummary(r)
	entries, err := s.o.API.ReadJournal(r.Context(), r.PathValue("id"), 0)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	n, err := strconv.Atoi(at)
	if err != nil || n < 1 || n > len(entries) {
		s.writeError(w, r, newRefusal(http.StatusBadRequest, "the journal of this task has entries 1 to %d: choose one of them", len(entries)))
		return
	}
	t, err := journal.Fold(task.Task{}, entries[:n])
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	out := s.taskBase(r, around, t, entries[:n])
	out.Past, out.OldFirst = true, r.URL.Query().Get("order") == "old"
	out.Tab = out.chooseTab(r)
	out.Now = entries[n-1].At.In(out.Now.Location())
	out.Look = overview.NewRow(out.Def, &t, overview.Facts{}, out.Now)
	out.Facts = taskFacts(out)
	out.Checks = taskChecks(&out.Task, &out.Look, out.Now)
	out.Scrub = scrubOf(string(t.ID), n, entries)
	out.drawWorkflow(taskPath(entries[:n]))
	moment := momentOf(&entries[n-1])
	out.linkMoment(&moment)
	out.Scrub.Entry = &moment
	list := taskMoments(entries, nil)
	for i := range list {
		list[i].Later, list[i].Current = list[i].Seq > n, list[i].Seq == n
	}
	out.fillTimeline(list, true)
	out.addTabs()
	s.renderPage(w, r, http.StatusOK, "task", out)
}
