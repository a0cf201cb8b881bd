package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"orange/internal/core/board"
	"orange/internal/core/task"
	"orange/internal/core/workflow/builtin"
	"orange/internal/ui/apitest"
	"orange/internal/wire"
)

const joanTask = "J0000000000000000000j"

// newKanbanBackend returns a backend with a board of joan-board: card 1 waits for the approval of its plan, card 2 has no
// task, and card 3 is done.
func newKanbanBackend(t testing.TB) *backend {
	t.Helper()
	w := newBackend(t)
	text, _ := builtin.Text("joan-board")
	w.def = w.AddWorkflow(t, "joan-board.yaml", text)
	boards := apitest.NewBoards(w.def.Board.Vocabulary(), func() time.Time { return epoch })
	w.api.Boards = boards
	for _, n := range []wire.NewCard{
		{Title: "Sell <b>carts</b>", Description: "## Plan\n<script>alert(1)</script>", Column: "Analyse", Tags: []string{"Plan-Pending-Approval"}},
		{Title: "Only an idea"},
		{Title: "Shipped", Column: "Done"},
	} {
		if _, err := boards.AddCard(t.Context(), "shop", n); err != nil {
			t.Fatal(err)
		}
	}
	w.add(task.Task{ID: joanTask, Project: "shop", Branch: "carts", Summary: "Sell carts", Status: "board"})
	w.Change(joanTask, func(t *task.Task) { t.TrackerRef = board.Ref("shop", 1) })
	return w
}

// cardNow returns a card as the store has it.
func (w *backend) cardNow(number int) board.Card {
	w.t.Helper()
	c, _, err := w.api.Boards.ReadCard(w.t.Context(), "shop", number)
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

func TestTheKanbanBoardShowsCardsAndTheirTasks(t *testing.T) {
	v := newEnv(t, newKanbanBackend(t)).visitor(t)
	for _, path := range []string{"/kanban", "/kanban/shop"} {
		res, body := v.get(path)
		if res.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d", path, res.StatusCode)
		}
		says(t, body, []string{
			`<span>Kanban</span>`, `data-topic="kanban:shop"`, `href="/kanban/api"`,
			`data-col="To Do"`, `data-col="Deploy"`, `<a class="t" href="/kanban/shop/1" draggable="false">Sell &lt;b&gt;carts&lt;/b&gt;</a>`,
			`<span class="badge">Plan-Pending-Approval</span>`, `<a class="pill kind-human" href="/tasks/` + joanTask + `" draggable="false">board</a>`,
			`value="tag:Plan-Approved"`, `value="tag:Plan-Rejected"`, `<span class="badge no-task">No task</span>`,
		}, []string{"<b>carts", "value=\"tag:Ready\"", "style="})
	}
	_, body := v.get("/kanban/shop/1")
	says(t, body, []string{
		`Card 1 of <a href="/kanban/shop">shop</a>`, "Plan</h", "&lt;script&gt;alert(1)&lt;/script&gt;", `<a href="/tasks/` + joanTask + `">Task J0000000</a>`,
		`value="untag:Plan-Pending-Approval"`, `value="tag:Ops-Ready"`, `<option selected>Analyse</option>`, "There are no comments yet.",
	}, []string{"<script>alert"})
	_, body = v.get("/kanban/shop/2")
	says(t, body, []string{"No task works on this card.", "This card has no description.", `value="tag:Plan-Approved"`}, nil)
	_, body = v.get("/tasks/" + joanTask)
	says(t, body, []string{`<a href="/kanban/shop/1">shop/1</a>`}, nil)
	_, body = v.get("/kanban/api")
	says(t, body, []string{`data-topic="kanban:api"`}, []string{`class="t"`})
}

// A long column is cut, and can be shown in full.
func TestALongKanbanColumnIsCut(t *testing.T) {
	w := newKanbanBackend(t)
	for i := range 110 {
		if _, err := w.api.Boards.AddCard(t.Context(), "shop", wire.NewCard{Title: fmt.Sprintf("Card %d", i), Column: "Review"}); err != nil {
			t.Fatal(err)
		}
	}
	v := newEnv(t, w).visitor(t)
	_, body := v.get("/kanban/shop")
	says(t, body, []string{`Review <span class="n">110</span>`, `<a class="more" href="/kanban/shop?full=Review">10 more</a>`}, []string{">Card 100<"})
	_, body = v.get("/kanban/shop?full=Review")
	says(t, body, []string{">Card 109<"}, []string{`class="more"`})
}

func TestAStructuredCommentIsShownAsWhatItSays(t *testing.T) {
	v := newEnv(t, newKanbanBackend(t)).visitor(t)
	v.form("/kanban/shop/1", url.Values{"do": {"comment"}, "note": {"ALS/1\nactor: ba\nintent: decision\naction: mark-ready\nsummary: Ready <b>now</b>"}, "back": {"/kanban/shop/1"}})
	_, body := v.get("/kanban/shop/1")
	says(t, body, []string{`<span class="badge">decision: mark-ready</span>`, `<p>Ready &lt;b&gt;now&lt;/b&gt;</p>`, "As it was written", "ALS/1\nactor: ba"}, []string{"<b>now"})
}

func TestTheInboxLinksToTheCardThatWaits(t *testing.T) {
	w := newKanbanBackend(t)
	card := w.cardNow(1)
	shot := card.Snapshot()
	w.Change(joanTask, func(t *task.Task) { t.CardSnapshot = &shot })
	_, body := newEnv(t, w).visitor(t).get("/inbox?item=" + joanTask)
	says(t, body, []string{`<a class="button go" href="/kanban/shop/1">Open the card</a>`}, nil)
}

func TestACardIsChangedWithoutScript(t *testing.T) {
	w := newKanbanBackend(t)
	v := newEnv(t, w).visitor(t)
	for _, step := range []struct {
		fields url.Values
		said   string
		want   string // column and tags afterwards
	}{
		{url.Values{"do": {"tag:Plan-Approved"}, "back": {"/kanban/shop"}}, "Card 1 has the tag Plan-Approved.", "Analyse [Plan-Pending-Approval Plan-Approved]"},
		{url.Values{"do": {"untag:Plan-Approved"}, "back": {"/kanban/shop/1"}}, "Card 1 no longer has the tag Plan-Approved.", "Analyse [Plan-Pending-Approval]"},
		{url.Values{"do": {"move"}, "column": {"Development"}, "back": {"/kanban/shop/1"}}, "Card 1 is in Development.", "Development [Plan-Pending-Approval]"},
		{url.Values{"do": {"move:Development"}, "back": {"/kanban/shop"}}, "Card 1 is in Development, as before.", "Development [Plan-Pending-Approval]"},
		{url.Values{"do": {"comment"}, "note": {"<i>Why?</i>"}, "back": {"/kanban/shop/1"}}, "Card 1 has a new comment.", "Development [Plan-Pending-Approval]"},
	} {
		res, _ := v.form("/kanban/shop/1", step.fields)
		to := res.Header.Get("Location")
		if res.StatusCode != http.StatusSeeOther || !strings.HasPrefix(to, step.fields.Get("back")+"?said=") {
			t.Fatalf("%v: %d to %q", step.fields, res.StatusCode, to)
		}
		_, body := v.get(to)
		says(t, body, []string{step.said}, nil)
		if c := w.cardNow(1); fmt.Sprint(c.Column, " ", c.Tags) != step.want {
			t.Errorf("%v: %s %v", step.fields, c.Column, c.Tags)
		}
	}
	_, body := v.get("/kanban/shop/1")
	says(t, body, []string{"human · ", "&lt;i&gt;Why?&lt;/i&gt;"}, []string{"<i>Why"})
	res, _ := v.form("/kanban/shop", url.Values{"title": {"New"}, "note": {"text"}, "column": {"Analyse"}})
	if res.StatusCode != http.StatusSeeOther || w.cardNow(4).Column != "Analyse" || w.cardNow(4).Description != "text" {
		t.Errorf("%d %+v", res.StatusCode, w.cardNow(4))
	}
}

func TestAChangeOfACardIsRefused(t *testing.T) {
	w := newKanbanBackend(t)
	e := newEnv(t, w)
	v := e.visitor(t)
	for name, tt := range map[string]struct {
		path   string
		fields url.Values
		status int
		words  string
	}{
		"nothing":          {"/kanban/shop/1", url.Values{}, http.StatusBadRequest, "the request changes nothing"},
		"an unknown tag":   {"/kanban/shop/1", url.Values{"do": {"tag:Nope"}}, http.StatusBadRequest, "is not known on this board"},
		"a column":         {"/kanban/shop/1", url.Values{"do": {"move:Nowhere"}}, http.StatusBadRequest, "is not known on this board"},
		"no comment":       {"/kanban/shop/1", url.Values{"do": {"comment"}, "note": {" "}}, http.StatusBadRequest, "the request changes nothing"},
		"an unknown card":  {"/kanban/shop/99", url.Values{"do": {"tag:Ready"}}, http.StatusNotFound, "card not found"},
		"no number":        {"/kanban/shop/x", url.Values{"do": {"tag:Ready"}}, http.StatusNotFound, "this card does not exist"},
		"no title":         {"/kanban/shop", url.Values{"title": {" "}}, http.StatusBadRequest, "needs a title"},
		"an unknown board": {"/kanban/none/1", url.Values{"do": {"tag:Ready"}}, http.StatusNotFound, "card not found"},
	} {
		res, body := v.form(tt.path, tt.fields)
		if res.StatusCode != tt.status || !strings.Contains(body, tt.words) {
			t.Errorf("%s: %d %s", name, res.StatusCode, body)
		}
	}
	if res, _ := v.get("/kanban/none"); res.StatusCode != http.StatusBadRequest {
		t.Errorf("a board of no project: %d", res.StatusCode)
	}
	// A form that no page of this session made changes nothing, nor does a page of another origin.
	bad := v.request("POST", "/kanban/shop/1", url.Values{"do": {"tag:Plan-Approved"}, "_csrf": {"x"}}.Encode())
	bad.Header.Set("Origin", "http://"+e.addr)
	if res, _ := v.do(bad); res.StatusCode != http.StatusForbidden {
		t.Errorf("without a token of the page: %d", res.StatusCode)
	}
	foreign := v.formRequest("/kanban/shop/1", url.Values{"do": {"tag:Plan-Approved"}})
	foreign.Header.Set("Origin", "http://evil.example")
	if res, _ := v.do(foreign); res.StatusCode != http.StatusForbidden {
		t.Errorf("from another origin: %d", res.StatusCode)
	}
	if c := w.cardNow(1); len(c.Tags) != 1 || c.Column != "Analyse" {
		t.Errorf("the card changed: %+v", c)
	}
	if len(w.heard) > 0 {
		t.Errorf("the engine heard %v", w.heard)
	}
}

// The page of a board hears of its own board and its own tasks.
func TestTheKanbanBoardIsLive(t *testing.T) {
	w := newKanbanBackend(t)
	v := newEnv(t, w).visitor(t)
	events := v.listen(t, "/live?topic=kanban:shop", "")
	next := func(want string) {
		t.Helper()
		for e := range events {
			if e[1] == want {
				return
			}
		}
		t.Fatal("the stream ended")
	}
	next("hello")
	next("touch") // the present
	if _, _, err := w.api.Boards.ChangeCard(t.Context(), "shop", 2, board.Change{Column: "Done"}, ""); err != nil {
		t.Fatal(err)
	}
	next("touch")
	w.Change(joanTask, func(t *task.Task) { t.Status = "architect-finalize" })
	next("touch")
}
