package web_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/engine"
	"orange/internal/core/explain"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/ui/web"
	"orange/internal/view/overview"
)

// newBoardBackend returns a backend with a few tasks.
func newBoardBackend(t *testing.T) *backend {
	t.Helper()
	w := newBackend(t)
	w.add(
		task.Task{ID: pendingTask, Project: "shop", Branch: "fix-login", Summary: "Fix the login form", Status: "pending"},
		task.Task{ID: workingTask, Project: "shop", Branch: "search", Summary: "Make the search faster", Status: "working", Resources: task.Resources{Workspace: "shop--1"}, Agents: task.Agents{Spent: task.Spend{Usage: task.Usage{CostMicroUSD: 1420000}},
			Attempts: []task.Attempt{{Number: 1, Role: "worker", State: "working", Visit: 1, Running: true, Since: epoch, Condition: task.Condition{Name: task.Running}, Usage: task.Usage{InputTokens: 1000, OutputTokens: 200, CostMicroUSD: 420000}}}}},
		task.Task{ID: reviewingTask, Project: "api", Branch: "rate-limit", Summary: "Limit requests", Status: "reviewing", Resources: task.Resources{PRURL: "https://git.example/o/r/pull/12", PRState: "OPEN"}},
		task.Task{ID: askingTask, Project: "api", Branch: "ask", Summary: "Which colour", Status: "working",
			Agents: task.Agents{Attempts: []task.Attempt{{Number: 1, Role: "worker", State: "working", Visit: 1, Running: true, Since: epoch, Condition: task.Condition{Name: task.Idle, Left: task.LeftQuestion, Since: epoch}}}}},
		task.Task{ID: "E0000000000000000000e", Project: "shop", Branch: "old", Summary: "Long over", Status: "done"},
	)
	w.setFacts(workingTask, overview.Facts{Active: map[int]time.Time{1: epoch.Add(time.Hour)}})
	w.setFacts(reviewingTask, overview.Facts{Checks: "passed", Work: &overview.Work{Commits: 3, Added: 40, Deleted: 7}})
	w.setFacts(askingTask, overview.Facts{Reasons: []explain.WaitReason{{Kind: explain.BecauseOfMessage, By: "worker", Text: "blue or green?"}}})
	return w
}

func TestBoard(t *testing.T) {
	w := newBoardBackend(t)
	w.add(task.Task{ID: "Z0000000000000000000z", Project: "shop", Branch: "new", Summary: "Just over", Status: "done"})
	w.Change("Z0000000000000000000z", func(t *task.Task) { t.Since = time.Now() })
	h := newEnv(t, w)
	v := h.visitor(t)
	tests := map[string]struct {
		path  string
		want  []string
		never []string
	}{
		"what is not over, in the order of the workflow": {"/?group=status", []string{"Fix the login form", "Make the search faster", `data-col="pending"`, `data-col="done"`, "#12", "checks passed", "3 commits", ">+40<", ">−7<", "$1.42", "Review<span", `data-m="working done cancelled" data-n="working done cancelled"`, `data-drag="status"`, "Just over"}, []string{"Long over"}},
		"what is open":                            {"/?scope=active", []string{"Fix the login form", `href="/?scope=done">Show all closed tasks`}, []string{"Long over", "Just over"}},
		"who must act":                            {"/", []string{`data-col="need"`, ">Needs you<", ">Agents at work<", ">Waiting<", `href="/inbox?item=` + askingTask, `href="/?scope=done">Show all closed tasks`, "Just over", `form="start-` + pendingTask, ">worker at work<", ">worker idle<"}, []string{"Long over", `data-col="pending"`}},
		"who must act, and what is over":          {"/?scope=all", []string{"Long over", "Just over", `data-col="done"`}, []string{"Show all closed tasks"}},
		"a search":                                {"/?q=limit", []string{"Limit requests", `value="limit"`}, []string{"Fix the login form"}},
		"a project":                               {"/?project=api", []string{"Limit requests", "<option selected>api"}, []string{"Fix the login form"}},
		"what is over":                            {"/?scope=done", []string{"Long over", "Just over"}, []string{"Fix the login form"}},
		"what waits for a person":                 {"/?wanted=1", []string{"Limit requests"}, []string{"Make the search faster"}},
		"the history of what waits":               {"/?wanted=1&full=working", []string{`<input type="hidden" name="wanted" value="1">`, `<input type="hidden" name="full" value="working">`}, nil},
		"columns by project":                      {"/?group=project", []string{`data-col="api"`, `data-col="shop"`}, []string{`data-col="pending"`, "data-drag"}},
		"nothing":                                 {"/?q=nothing-like-it", []string{"No task matches"}, []string{"Fix the login form"}},
		"words that are no filter":                {"/?scope=x&group=y&at=-1", []string{"Fix the login form"}, nil},
		"the past, in which nothing is asked for": {"/?at=1", []string{"Fix the login form", "the board as it was at", `href="/?at=2"`, `href="/">Now`}, []string{"Make the search faster", `class="mv"`, "draggable=\"true\"", "data-m"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			res, body := v.get(tt.path)
			if res.StatusCode != 200 {
				t.Fatalf("status %d: %s", res.StatusCode, body)
			}
			for _, want := range tt.want {
				if !strings.Contains(body, want) {
					t.Errorf("%q is not there: %s", want, body)
				}
			}
			for _, never := range tt.never {
				if strings.Contains(body, never) {
					t.Errorf("%q is there", never)
				}
			}
		})
	}
	_, body := v.get("/?group=status")
	if a, b, c := strings.Index(body, `data-col="pending"`), strings.Index(body, `data-col="working"`), strings.Index(body, `data-col="reviewing"`); a < 0 || b < a || c < b {
		t.Errorf("columns are at %d, %d and %d", a, b, c)
	}
	_, body = v.get("/?group=project&scope=all")
	if open, latest, old := strings.LastIndex(body, ">Make the search faster<"), strings.Index(body, ">Just over<"), strings.Index(body, ">Long over<"); open < 0 || latest < open || old < latest {
		t.Errorf("in a project an open task is at %d, what closed at %d, what closed before at %d", open, latest, old)
	}
}

func TestTextIsText(t *testing.T) {
	w := newBackend(t)
	bad := `<script>alert(1)</script>"><img src=x onerror=alert(1)>`
	w.add(task.Task{ID: "A0000000000000000000a", Project: "shop", Branch: bad, Summary: bad, Status: "working", Waiting: task.Waiting{Attention: bad}, Setup: task.Setup{Harness: bad}, Resources: task.Resources{TrackerRef: bad, PRURL: "javascript:alert(1)", PRState: "OPEN"},
		Agents: task.Agents{Attempts: []task.Attempt{{Number: 1, Role: bad, Running: true, Condition: task.Condition{Name: bad, Detail: bad}, Since: epoch}}}})
	w.setFacts("A0000000000000000000a", overview.Facts{Checks: bad, Reasons: []explain.WaitReason{{Kind: explain.BecauseOfNote, By: bad, Text: bad}}})
	h := newEnv(t, w)
	v := h.visitor(t)
	for _, path := range []string{"/", "/inbox", "/fleet", "/move/A0000000000000000000a", "/?q=" + url.QueryEscape(bad), "/?project=" + url.QueryEscape(bad), "/nothing/" + url.PathEscape(bad)} {
		_, body := v.get(path)
		for _, never := range []string{"<script>alert", "<img src=x", `href="javascript:`, "onerror=alert(1)>"} {
			if strings.Contains(body, never) {
				t.Errorf("%s has %q in it: %s", path, never, body)
			}
		}
	}
}

func TestActions(t *testing.T) {
	const a, c, d = "A0000000000000000000a", "C0000000000000000000c", "D0000000000000000000d"
	tests := map[string]struct {
		id     string
		fields url.Values
		want   signal.Signal
		status int
		says   string
	}{
		"move":                     {a, url.Values{"do": {"move:working"}}, signal.Signal{Kind: signal.Request, To: "working"}, 303, ""},
		"move by a field":          {a, url.Values{"do": {"move"}, "to": {"working"}, "note": {"go"}}, signal.Signal{Kind: signal.Request, To: "working", Note: "go"}, 303, ""},
		"a move that is refused":   {a, url.Values{"do": {"move:done"}, "note": {"my words"}}, signal.Signal{Kind: signal.Request, To: "done", Note: "my words"}, 409, "gate: it has no &lt;b&gt;plan&lt;/b&gt;: write one"},
		"what was written is kept": {a, url.Values{"do": {"move:done"}, "note": {"my words"}}, signal.Signal{Kind: signal.Request, To: "done", Note: "my words"}, 409, "my words</textarea>"},
		"move to nowhere":          {a, url.Values{"do": {"move"}}, signal.Signal{}, 400, "names no state"},
		"answer":                   {d, url.Values{"do": {"answer"}, "note": {" blue\r\nor not "}}, signal.Signal{Kind: signal.Request, Verb: "answer", Note: "blue\nor not"}, 303, ""},
		"an empty answer":          {d, url.Values{"do": {"answer"}, "note": {"  "}}, signal.Signal{}, 400, "write some text"},
		"bytes that are no text":   {d, url.Values{"do": {"answer"}, "note": {"\xff\xfe"}}, signal.Signal{}, 400, "UTF-8"},
		"send a message":           {workingTask, url.Values{"do": {"send"}, "note": {"use the index"}}, signal.Signal{Kind: signal.Request, Verb: "send", Note: "use the index"}, 303, ""},
		"an empty message":         {a, url.Values{"do": {"send"}}, signal.Signal{}, 400, "write some text"},
		"replace an agent":         {workingTask, url.Values{"do": {"respawn:force"}}, signal.Signal{Kind: signal.Request, Verb: "respawn", Arg: "force"}, 303, ""},
		"stop an agent":            {workingTask, url.Values{"do": {"stop"}, "note": {"wrong way"}}, signal.Signal{Kind: signal.Request, Verb: "stop", Note: "wrong way"}, 303, ""},
		"respawn in another way":   {a, url.Values{"do": {"respawn:gently"}}, signal.Signal{}, 400, "unknown way"},
		"request changes":          {c, url.Values{"do": {"request-changes"}, "note": {"tests"}}, signal.Signal{Kind: signal.Request, Verb: "request-changes", Note: "tests"}, 303, ""},
		"approve":                  {c, url.Values{"do": {"approve:done"}}, signal.Signal{Kind: signal.Request, To: "done"}, 303, ""},
		"approve something else":   {c, url.Values{"do": {"approve:working"}, "note": {"my words"}}, signal.Signal{}, 409, "now requests done, not working"},
		"approve whatever it is":   {c, url.Values{"do": {"approve"}}, signal.Signal{}, 400, "does not say what is approved"},
		"start":                    {a, url.Values{"do": {"spawn"}}, signal.Signal{Kind: signal.Ready}, 303, ""},
		"pause":                    {a, url.Values{"do": {"pause"}}, signal.Signal{Kind: signal.Pause}, 303, ""},
		"resume":                   {a, url.Values{"do": {"resume"}}, signal.Signal{Kind: signal.Resume}, 303, ""},
		"delete":                   {"E0000000000000000000e", url.Values{"do": {"delete"}}, signal.Signal{Kind: signal.Delete}, 303, ""},
		"a check":                  {c, url.Values{"do": {"check:tests"}}, signal.Signal{Kind: signal.Request, Verb: "check", Arg: "tests"}, 409, "it has no"},
		"merge in an unknown way":  {c, url.Values{"do": {"merge:octopus"}}, signal.Signal{}, 400, "choose auto, ff, merge, rebase or squash"},
		"something else":           {a, url.Values{"do": {"explode"}}, signal.Signal{}, 400, "unknown action"},
		"another task":             {"Z0000000000000000000z", url.Values{"do": {"pause"}}, signal.Signal{}, 404, "not found"},
		"no task at all":           {"a%2Fb", url.Values{"do": {"pause"}}, signal.Signal{}, 404, "task not found: &#34;a/b&#34;"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := newBoardBackend(t)
			w.Change(c, func(t *task.Task) { t.Asked = &task.Asked{To: "done", By: "worker"} })
			w.Change(a, func(t *task.Task) { t.Paused = name == "resume" })
			if tt.want.Kind != "" {
				tt.want.Actor = task.Human
			}
			h := newEnv(t, w)
			v := h.visitor(t)
			tt.fields.Set("back", "/inbox")
			res, body := v.form("/act/"+tt.id, tt.fields)
			if res.StatusCode != tt.status || !strings.Contains(body, tt.says) {
				t.Errorf("status %d, want %d and %q: %s", res.StatusCode, tt.status, tt.says, body)
			}
			if diff := cmp.Diff(tt.want, w.last()); diff != "" {
				t.Errorf("signal (-want +got):\n%s", diff)
			}
			if tt.status != 303 {
				return
			}
			to := res.Header.Get("Location")
			if !strings.HasPrefix(to, "/inbox?said=") && !strings.HasPrefix(to, "/?said=") {
				t.Fatalf("it leads to %q", to)
			}
			if _, body := v.get(to); !strings.Contains(body, `class="banner good" id="said"`) {
				t.Error("what it came to is not said")
			}
		})
	}
}

func TestFormsLeadToPagesOfThisSite(t *testing.T) {
	h := newEnv(t, newBoardBackend(t))
	v := h.visitor(t)
	for _, back := range []string{"https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)", "/\r\nX: y", ""} {
		h.backend.Change(pendingTask, func(t *task.Task) { t.Paused = false })
		res, _ := v.form("/act/"+pendingTask, url.Values{"do": {"pause"}, "back": {back}})
		if to := res.Header.Get("Location"); !strings.HasPrefix(to, "/?said=") {
			t.Errorf("%q leads to %q", back, to)
		}
	}
}

func TestScriptsGetJSON(t *testing.T) {
	h := newEnv(t, newBoardBackend(t))
	v := h.visitor(t)
	for do, want := range map[string]string{"move:working": `"said":"fix-login: pending → working"`, "move:done": `"error":"gate: it has no`} {
		r := v.formRequest("/act/A0000000000000000000a", url.Values{"do": {do}, "back": {"/"}})
		r.Header.Set("Accept", "application/json")
		if _, body := v.do(r); !strings.Contains(strings.ReplaceAll(body, `\u003e`, ">"), want) {
			t.Errorf("%s: %s", do, body)
		}
	}
}

func TestInbox(t *testing.T) {
	h := newEnv(t, newBoardBackend(t))
	v := h.visitor(t)
	_, body := v.get("/inbox") // the first item is shown
	says(t, body, []string{"Fix the login form", "Limit requests", ">Now <", ">Reviews <", ">Backlog <", "blue or green?", `value="answer"`, `id="n-` + askingTask + `"`, `name="id" value="` + pendingTask + `" aria-label="Select Fix the login form"`}, []string{`value="merge"`, `class="panes chosen"`})
	_, body = v.get("/inbox?item=" + reviewingTask)
	says(t, body, []string{`class="panes chosen"`, `value="merge" class="go"`, `value="request-changes"`, "orange task merge", "3 commits", ">+40<", `<summary class="button" title="complete → done">Move to done…</summary>`}, []string{"blue or green?", `value="move:done" class="">`})
	_, body = v.get("/inbox?item=" + pendingTask)
	says(t, body, []string{`value="spawn"`}, nil)
	if _, body := v.get("/inbox?project=nowhere"); strings.Contains(body, "Fix the login form") || !strings.Contains(body, "0 things need you in nowhere") {
		t.Errorf("the items of another project: %s", body)
	}
	h.backend.pause(true)
	if _, body := v.get("/inbox"); !strings.Contains(body, "everything is paused") || !strings.Contains(body, `action="/resume"`) {
		t.Errorf("the pause is not shown: %s", body)
	}
}

// Why a task waits is shown as Markdown, and nothing in it is HTML of its own.
func TestTheInboxSaysWhyATaskWaits(t *testing.T) {
	w := newBoardBackend(t)
	w.Change(workingTask, func(t *task.Task) {
		t.Attention = "the work needs help"
	})
	w.setFacts(workingTask, overview.Facts{Reasons: []explain.WaitReason{{Kind: explain.BecauseOfNote, By: "worker", Text: "It is gone:\n\n- no host\n- no <img src=x onerror=alert(1)>"}}})
	_, body := newEnv(t, w).visitor(t).get("/inbox?item=" + workingTask)
	says(t, body, []string{"<h3>Note (worker)</h3>", "<li>no host", "no &lt;img src=x"}, []string{"<img src=x"})
}

// An agent that asked in prose is answered where its question is shown.
func TestAnIdleAgentIsAnswered(t *testing.T) {
	w := newBoardBackend(t)
	w.Change(workingTask, func(t *task.Task) {
		t.Attempts[0].Condition = task.Condition{Name: task.Idle, Left: task.LeftQuestion, Since: epoch}
	})
	w.setFacts(workingTask, overview.Facts{Reasons: []explain.WaitReason{{Kind: explain.BecauseOfMessage, By: "worker", Text: "Shall it be:\n\n- **blue**?\n- <script>alert(1)</script>?"}}})
	v := newEnv(t, w).visitor(t)
	_, body := v.get("/inbox?kind=idle&item=" + workingTask)
	says(t, body, []string{`aria-current="true">reply`, "<h3>Last message (worker)</h3>", "<li><strong>blue</strong>?", "&lt;script&gt;", "Your answer</label>", `value="answer" class="go"`, `<p class="words clipped">the worker asks something and waits for an answer`, `class="written end"`}, []string{"<script>alert"})
	_, body = v.get("/")
	says(t, body, []string{"Reply<span"}, nil)
	if res, body := v.form("/act/"+workingTask, url.Values{"do": {"answer"}, "note": {"blue"}, "back": {"/inbox"}}); res.StatusCode != 303 || w.last().Verb != engine.VerbAnswer || w.last().Note != "blue" {
		t.Errorf("%d: %s", res.StatusCode, body)
	}
}

// An agent that a person stopped has not failed: the inbox says so, and starts another one.
func TestAStoppedAgentIsStartedFromTheInbox(t *testing.T) {
	w := newBoardBackend(t)
	w.Change(workingTask, func(t *task.Task) {
		t.WorkFailed, t.Stopped, t.Attempts = "a person stopped the worker: wrong way", &task.Stopped{Attempt: 1, Role: "worker", At: epoch}, nil
	})
	v := newEnv(t, w).visitor(t)
	_, body := v.get("/inbox?kind=stopped&item=" + workingTask)
	says(t, body, []string{`aria-current="true">agent stopped`, "you stopped the worker: wrong way", `value="respawn" class="go">Start agent<`}, []string{"failed", "Message for the next agent"})
	_, body = v.get("/")
	says(t, body, []string{"Start agent<span"}, []string{"it failed"})
	_, body = v.get("/tasks/" + workingTask)
	says(t, body, []string{">Start agent<"}, []string{`value="stop"`, "Start the agent again"})
	if res, body := v.form("/act/"+workingTask, url.Values{"do": {"respawn"}, "back": {"/inbox"}}); res.StatusCode != 303 || w.last().Verb != engine.Respawn {
		t.Errorf("%d: %s", res.StatusCode, body)
	}
}

func TestTheInboxIsFilteredAndGrouped(t *testing.T) {
	v := newEnv(t, newBoardBackend(t)).visitor(t)
	_, body := v.get("/inbox")
	says(t, body, []string{`href="/inbox?kind=review"`}, nil)
	_, body = v.get("/inbox?kind=review")
	says(t, body, []string{`aria-current="true">review`, `value="merge"`, ">Reviews <"}, []string{"blue or green?", ">Now <", ">Backlog <"})
	_, body = v.get("/inbox?kind=start")
	says(t, body, []string{">Backlog <", "Fix the login form"}, []string{`value="merge"`})
	_, body = v.get("/inbox?kind=<b>")
	says(t, body, []string{`aria-current="true">all`}, []string{"<b>"})
}

// An agent that asks at its terminal gets only what is typed there.
func TestWhatIsAskedAtATerminalIsAnsweredThere(t *testing.T) {
	for condition, words := range map[string]string{task.WaitingPermission: "the reviewer asks for permission", task.WaitingInput: "the reviewer waits for input"} {
		w := newBoardBackend(t)
		w.Change(workingTask, func(t *task.Task) {
			t.Attempts = append(t.Attempts, task.Attempt{Number: 2, Role: "reviewer", Running: true, Condition: task.Condition{Name: condition}}, task.Attempt{Number: 3, Role: "fixer", Running: true, Condition: task.Condition{Name: task.TurnFailed}})
		})
		item := func(h *env) string {
			_, body := h.visitor(t).get("/inbox?item=" + workingTask)
			_, body, _ = strings.Cut(body, `id="item-`+workingTask+`"`)
			body, _, _ = strings.Cut(body, "</article>")
			return body
		}
		const terminal, types = `href="/tasks/` + workingTask + `/terminal?role=reviewer"`, `action="/tasks/` + workingTask + `/type"`
		says(t, item(newEnv(t, w)), []string{terminal, words}, []string{`value="answer"`, types, "textarea"})
		h := newEnv(t, w, func(o *web.SiteOptions) { o.Input = true })
		says(t, item(h), []string{terminal, types, `name="role" value="reviewer"`}, []string{`value="answer"`, "textarea"})
		res, body := h.visitor(t).form("/tasks/"+workingTask+"/type", url.Values{"text": {"yes"}, "role": {"reviewer"}, "back": {"/inbox"}})
		if res.StatusCode != 303 || !strings.HasPrefix(res.Header.Get("Location"), "/inbox?said=") || !slices.Equal(w.typed, []string{"reviewer: yes"}) {
			t.Errorf("%d to %s, typed %q: %s", res.StatusCode, res.Header.Get("Location"), w.typed, body)
		}
	}
}

func TestTheInboxSaysWhatIsApproved(t *testing.T) {
	w := newBoardBackend(t)
	w.Change(reviewingTask, func(t *task.Task) { t.Asked = &task.Asked{To: "done", By: "worker"} })
	_, body := newEnv(t, w).visitor(t).get("/inbox?item=" + reviewingTask)
	says(t, body, []string{`value="approve:done" class="go">Approve done<`}, []string{`value="approve"`})
	w.Change(reviewingTask, func(t *task.Task) { t.Asked = nil })
	_, body = newEnv(t, w).visitor(t).get("/inbox?item=" + reviewingTask)
	says(t, body, nil, []string{`value="approve`})
}

// After a merge that failed the inbox offers what helps: the words of a conflict are written
// already.
func TestTheInboxHelpsAfterAMergeThatFailed(t *testing.T) {
	w := newBoardBackend(t)
	for want, conflict := range map[string]*task.Conflict{
		`Run git rebase main, resolve the conflicts in &lt;b&gt;, and test again.</textarea>`: {Onto: "main", Files: []string{"<b>"}},
		`value="merge" class="go">Merge<`: nil,
	} {
		w.Change(reviewingTask, func(t *task.Task) {
			t.Attention, t.GaveUp = "merge failed", &task.GaveUp{Do: workflow.MergeBranch, Conflict: conflict}
		})
		_, body := newEnv(t, w).visitor(t).get("/inbox?item=" + reviewingTask)
		says(t, body, []string{want, `value="request-changes"`}, nil)
	}
}

// Where work cannot be sent back, the inbox asks for no words about it: a merge would take them.
func TestTheInboxAsksWhatIsToChangeOnlyWhereWorkCanBeSentBack(t *testing.T) {
	w := newBoardBackend(t)
	item := func() string {
		_, body := newEnv(t, w).visitor(t).get("/inbox?item=" + reviewingTask)
		_, body, _ = strings.Cut(body, `id="item-`+reviewingTask+`"`)
		body, _, _ = strings.Cut(body, "</form>")
		return body
	}
	says(t, item(), []string{"What to change", `value="request-changes"`, `value="merge"`}, nil)
	oneWay := w.AddWorkflow(t, "t.yaml", strings.Replace(boardWorkflow, "  - {from: reviewing, to: working, as: request-changes, by: [human]}\n", "", 1))
	w.Change(reviewingTask, func(t *task.Task) { t.WorkflowHash = oneWay.Hash })
	says(t, item(), []string{`value="merge"`, `value="move:done"`}, []string{"What to change", "<textarea", `value="request-changes"`})
}

// What ends a task takes a second step wherever it is asked for.
func TestWhatEndsATaskAsksFirst(t *testing.T) {
	v := newEnv(t, newBoardBackend(t)).visitor(t)
	_, body := v.get("/move/" + reviewingTask)
	says(t, body, []string{
		`<details id="end-` + reviewingTask + `-done" data-to="done"><summary class="button" title="complete → done">Move to done…</summary><p>The task ends in done.</p>`,
		`<summary class="button end" title="cancel → cancelled">Cancel the task…</summary><p>The task ends without a result.</p>`, `<button name="do" value="request-changes"`,
	}, nil)
	if before, _, _ := strings.Cut(body, "<details"); strings.Contains(before, `value="move:`) {
		t.Error("a move that ends the task is a button without a question")
	}
}

// The form of one task asks about that task alone.
func TestTheMoveFormAsksForOneTask(t *testing.T) {
	w := newBoardBackend(t)
	v := newEnv(t, w).visitor(t)
	for id, status := range map[string]int{reviewingTask: 200, "C000": 200, "E0000000000000000000e": 200, "X": 404} {
		if res, body := v.get("/move/" + id); res.StatusCode != status {
			t.Errorf("%s: status %d: %s", id, res.StatusCode, body)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, path := range w.paths {
		if strings.HasPrefix(path, "/v1/state?") && !strings.Contains(path, "project=") {
			t.Errorf("all tasks were asked for: %s", path)
		}
	}
}

func TestFormsAreReadHoweverTheyShowWhoSendsThem(t *testing.T) {
	fields := url.Values{"note": {"tests"}, "do": {"request-changes"}, "project": {"shop"}, "summary": {"s"}}
	for name, show := range map[string]func(v *visitor, r *http.Request){
		"a header": func(v *visitor, r *http.Request) { r.Header.Set("Orange-Csrf", v.csrf) },
		"the token": func(v *visitor, r *http.Request) {
			v.cookies = nil
			r.Header.Set("Authorization", "Bearer "+token)
		},
	} {
		t.Run(name, func(t *testing.T) {
			for path, heard := range map[string]string{"/tasks/" + reviewingTask + "/review": "tests", "/act/" + reviewingTask: "tests", "/new": ""} {
				w := newBoardBackend(t)
				v := newEnv(t, w).visitor(t)
				v.formRequest(path, url.Values{}) // it knows the value for the header
				r := v.request("POST", path, fields.Encode())
				r.Header.Set("Origin", "http://"+v.env.addr)
				show(v, r)
				if res, body := v.do(r); res.StatusCode != 303 || w.last().Note != heard {
					t.Errorf("%s: status %d, heard %+v: %s", path, res.StatusCode, w.last(), body)
				}
			}
		})
	}
}

func TestFleet(t *testing.T) {
	h := newEnv(t, newBoardBackend(t))
	_, body := h.visitor(t).get("/fleet")
	for _, want := range []string{"Make the search faster", "worker", "1200", "$0.42", "in 2h", "1 of 4", "Cost today", "Need you", "Agents at work", "end the worker of working"} {
		if !strings.Contains(body, want) {
			t.Errorf("%q is not there: %s", want, body)
		}
	}
}

func TestCreate(t *testing.T) {
	w := newBoardBackend(t)
	h := newEnv(t, w)
	v := h.visitor(t)
	res, body := v.form("/new", url.Values{"project": {"shop"}, "summary": {"A new thing"}, "branch": {"new-thing"}, "note": {"why"}, "wait": {"1"}})
	if res.StatusCode != 303 || !strings.HasPrefix(res.Header.Get("Location"), "/tasks/Anewtask0000000000000?said=") {
		t.Fatalf("%d %q %s", res.StatusCode, res.Header.Get("Location"), body)
	}
	want := signal.NewTask{New: signal.New{Project: "shop", Branch: "new-thing", Summary: "A new thing"}, Requirements: "why", Actor: task.Human}
	if diff := cmp.Diff(want, w.created[0]); diff != "" {
		t.Errorf("wish (-want +got):\n%s", diff)
	}
	if res, body := v.form("/new", url.Values{"project": {"shop"}, "summary": {"x"}, "after": {" " + reviewingTask + ", " + pendingTask}}); res.StatusCode != 303 || !slices.Equal(w.created[1].After, []task.ID{reviewingTask, pendingTask}) {
		t.Errorf("%d %s", res.StatusCode, body)
	}
	for name, fields := range map[string]url.Values{"no project": {"summary": {"x"}}, "no summary": {"project": {"shop"}}} {
		if res, _ := v.form("/new", fields); res.StatusCode != 400 {
			t.Errorf("%s: %d", name, res.StatusCode)
		}
	}
	_, body = v.form("/new", url.Values{"project": {""}, "summary": {"kept <b>"}, "note": {"all of\nit"}, "branch": {"kept-branch"}, "wait": {"1"}})
	says(t, body, []string{"choose one", `value="kept &lt;b&gt;"`, "all of\nit</textarea>", `value="kept-branch"`, `value="1" checked`}, nil)
	_, body = v.get("/new?project=api")
	says(t, body, []string{"<option selected>api</option>"}, nil)
	_, body = v.get("/?project=api")
	says(t, body, []string{`href="/new?project=api"`}, nil)
}

func TestAddAProject(t *testing.T) {
	w := newBoardBackend(t)
	v := newEnv(t, w).visitor(t)
	_, body := v.form("/projects/new", url.Values{"path": {"shop"}, "name": {"kept"}})
	says(t, body, []string{"the path is not absolute", `value="kept"`}, nil)
	_, body = v.form("/projects/new", url.Values{"path": {"/src/shop"}, "pool": {"none"}})
	says(t, body, []string{"give a positive integer", `value="/src/shop"`}, nil)
}

// Several tasks of the backlog are started together.
func TestStartSeveral(t *testing.T) {
	w := newBoardBackend(t)
	v := newEnv(t, w).visitor(t)
	if res, body := v.form("/start", url.Values{"id": {pendingTask}}); res.StatusCode != 303 || w.last().Kind != signal.Ready {
		t.Errorf("%d: %s, heard %+v", res.StatusCode, body, w.last())
	}
	if res, _ := v.form("/start", url.Values{}); res.StatusCode != 400 {
		t.Errorf("nothing selected: %d", res.StatusCode)
	}
	if res, body := v.form("/start", url.Values{"id": {"Xnobody00000000000000", pendingTask}}); res.StatusCode != 409 || !strings.Contains(body, "started ") {
		t.Errorf("an unknown task: %d %s", res.StatusCode, body)
	}
}

func TestAnswersThatAQuestionOffers(t *testing.T) {
	w := newBoardBackend(t)
	w.setFacts(askingTask, overview.Facts{Reasons: []explain.WaitReason{{Kind: explain.BecauseOfMessage, By: "worker", Text: "Which colour?\n\n1. **blue**\n2. green <b>\n"}}})
	v := newEnv(t, w).visitor(t)
	_, body := v.get("/inbox?item=" + askingTask)
	says(t, body, []string{"data-fill>blue<", "data-fill>green &lt;b&gt;<"}, nil)
	for name, text := range map[string]string{"questions": "- Which one?\n- Why?", "one": "- blue", "none": "blue or green?", "a long one": "- " + strings.Repeat("x", 201) + "\n- y"} {
		w.setFacts(askingTask, overview.Facts{Reasons: []explain.WaitReason{{Kind: explain.BecauseOfMessage, By: "worker", Text: text}}})
		_, body := v.get("/inbox?item=" + askingTask)
		if strings.Contains(body, "data-fill") {
			t.Errorf("%s: offers answers: %s", name, body)
		}
	}
}

// A permission is given in the inbox, and only while the terminal shows the dialog that was seen.
func TestAPermissionIsAnsweredInTheInbox(t *testing.T) {
	w := newBoardBackend(t)
	w.askPermission(workingTask)
	v := newEnv(t, w).visitor(t)
	_, body := v.get("/inbox?item=" + workingTask)
	says(t, body, []string{"rm -rf &lt;build&gt;\nDo you want to proceed?</pre>", `name="seen" value="dialog-1"`, `value="1" class="go">Allow: Yes<`, `value="2" class="end">Deny: No, &lt;b&gt;stop`}, []string{"<b>stop", `class="button go"`})
	answer := url.Values{"key": {"1"}, "seen": {"dialog-1"}, "role": {"worker"}, "back": {"/inbox"}}
	w.mu.Lock()
	w.screen.Seen = "dialog-2"
	w.mu.Unlock()
	if res, body := v.form("/tasks/"+workingTask+"/keys", answer); res.StatusCode != 400 || !strings.Contains(body, "shows something else now") || len(w.keys) > 0 {
		t.Errorf("another dialog: %d, pressed %q: %s", res.StatusCode, w.keys, body)
	}
	answer.Set("seen", "dialog-2")
	if res, body := v.form("/tasks/"+workingTask+"/keys", answer); res.StatusCode != 303 || !slices.Equal(w.keys, []string{"worker: 1"}) {
		t.Errorf("%d, pressed %q: %s", res.StatusCode, w.keys, body)
	}
}

// Every kind of item has its own word and icon.
func TestKindsHaveALook(t *testing.T) {
	text := readFile(t, "kinds.go")
	for name := range strings.SplitSeq(readFile(t, "../../core/explain/kinds.go"), "\n") {
		if kind, found := strings.CutPrefix(strings.TrimSpace(name), "{Kind: "); found {
			if kind, _, _ = strings.Cut(kind, ","); !strings.Contains(text, "explain."+kind+":") {
				t.Errorf("%s has no row", kind)
			}
		}
	}
}

func TestTheThemeIsKept(t *testing.T) {
	v := newEnv(t, newBoardBackend(t)).visitor(t)
	res, _ := v.form("/theme", url.Values{"theme": {"dark"}, "back": {"/fleet"}})
	if res.StatusCode != 303 || len(res.Cookies()) != 1 || res.Header.Get("Location") != "/fleet" {
		t.Fatalf("%d to %q with %v", res.StatusCode, res.Header.Get("Location"), res.Cookies())
	}
	v.cookies = append(v.cookies, res.Cookies()...)
	_, body := v.get("/fleet")
	says(t, body, []string{`data-theme="dark"`, `value="dark" aria-pressed="true"`}, nil)
	if res, _ := v.form("/theme", url.Values{"theme": {"<b>"}}); res.StatusCode != 400 {
		t.Errorf("an unknown theme: %d", res.StatusCode)
	}
}

func TestFind(t *testing.T) {
	v := newEnv(t, newBoardBackend(t)).visitor(t)
	_, body := v.get("/find?q=search")
	says(t, body, []string{`"id":"` + workingTask + `"`, `"where":"shop/search"`}, []string{pendingTask})
	_, body = v.get("/find")
	if first := strings.Index(body, askingTask); first < 0 || first > strings.Index(body, pendingTask) {
		t.Errorf("what waits for a person is not the first: %s", body)
	}
}

// Pages and files are compressed for those who accept it.
func TestPagesAreCompressed(t *testing.T) {
	v := newEnv(t, newBoardBackend(t)).visitor(t)
	for _, path := range []string{"/", "/inbox", "/static/app.css", "/static/board.js"} {
		for accepts, want := range map[string]string{"gzip, br": "gzip", "gzip;q=0": "", "identity": ""} {
			r := v.request("GET", path, "")
			r.Header.Set("Accept-Encoding", accepts) // the client does not decode what a caller asked for
			res, body := v.do(r)
			if got := res.Header.Get("Content-Encoding"); got != want || res.Header.Get("Vary") == "" || want == "gzip" && !strings.HasPrefix(body, "\x1f\x8b") {
				t.Errorf("%s for %q: %q, %d bytes", path, accepts, got, len(body))
			}
		}
	}
}

func TestTheWorktreeOfATaskOpensInTheEditor(t *testing.T) {
	w := newBoardBackend(t)
	w.api.Worktree = func(t *task.Task) string {
		if t.ID != workingTask {
			return ""
		}
		return "/work trees/a\"b"
	}
	const link, copied = `href="vscode://file/work%20trees/a%22b"`, `data-copy="/work trees/a&#34;b"`
	with := newEnv(t, w, func(o *web.SiteOptions) { o.EditorLink = "vscode://file{path}" }).visitor(t)
	without := newEnv(t, w).visitor(t)
	for name, tt := range map[string]struct {
		who          *visitor
		id           task.ID
		link, copied bool
	}{
		"a task with a worktree":    {with, workingTask, true, true},
		"a task without a worktree": {with, pendingTask, false, false},
		"no editor is set":          {without, workingTask, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			_, body := tt.who.get("/tasks/" + string(tt.id))
			if strings.Contains(body, link) != tt.link || strings.Contains(body, "Open in the editor") != tt.link || strings.Contains(body, copied) != tt.copied {
				t.Error(body)
			}
		})
	}
}

func TestTheHistoryIsMarkedWhereTasksMoved(t *testing.T) {
	w := newBoardBackend(t)
	const moves = task.ID("F0000000000000000000f")
	w.add(task.Task{ID: moves, Project: "shop", Branch: "checkout", Status: "pending"})
	moved, _, err := w.Task(moves)
	if err != nil {
		t.Fatal(err)
	}
	moved.Seq, moved.Visit, moved.Status = 2, 2, "working"
	w.Put(moved, journal.Entry{Task: moves, Seq: 2, At: epoch, Type: journal.StatusChanged, Actor: task.Engine, Move: journal.Move{From: "pending", To: "working"}})
	v := newEnv(t, w).visitor(t)
	for path, want := range map[string]string{
		"/": `M7 0v10`, "/?at=1": `M7 0v10`, "/tasks/" + string(moves) + "?tab=timeline": `<svg class="ticks" viewBox="1 0 1 10" preserveAspectRatio="none" aria-hidden="true"><path d="M2 0v10"/></svg>`,
	} {
		if res, body := v.get(path); res.StatusCode != 200 || !strings.Contains(body, want) {
			t.Errorf("%s: %d, no %q in %s", path, res.StatusCode, want, body)
		}
	}
}

func TestTheBoardAndATaskShowWhatBlocksWhat(t *testing.T) {
	w := newBoardBackend(t)
	const waiting = task.ID("F0000000000000000000f")
	w.add(task.Task{ID: waiting, Project: "shop", Branch: "checkout", Summary: "Sell it", Status: "pending", Setup: task.Setup{After: []task.ID{workingTask}},
		Waiting: task.Waiting{Queued: true, Predecessors: []task.Predecessor{{ID: workingTask, Branch: "search", State: task.PredecessorOpen}}}})
	const part = task.ID("H0000000000000000000h")
	w.add(task.Task{ID: part, Project: "shop", Branch: "terms", Summary: "Say how", Status: "done", Setup: task.Setup{Parent: waiting}})
	const first = task.ID("J0000000000000000000j")
	w.add(task.Task{ID: first, Project: "shop", Branch: "prices", Summary: "Price it", Status: "working"})
	for i := range 4 {
		id := task.ID(fmt.Sprintf("K000000000000000000%dk", i))
		w.add(task.Task{ID: id, Project: "shop", Branch: fmt.Sprint("sale-", i), Summary: "Sell less", Status: "pending", Setup: task.Setup{After: []task.ID{first}},
			Waiting: task.Waiting{Queued: true, Predecessors: []task.Predecessor{{ID: first, Branch: "prices", State: task.PredecessorOpen}}}})
	}
	v := newEnv(t, w).visitor(t)
	for path, want := range map[string]string{
		"/tasks/" + string(first):                     "<summary><b>Unblocks:</b> 4 tasks</summary><a",
		"/tasks/" + string(waiting) + "?tab=overview": "terms (H0000000, done)", "/tasks/" + string(part): "F0000000",
		"/": ">after search<", "/?q=faster": "unblocks 1", "/tasks/" + string(waiting): "search (" + workingTask[:8] + ", open)", "/tasks/" + workingTask: "checkout (F0000000, pending)",
	} {
		if res, body := v.get(path); res.StatusCode != 200 || !strings.Contains(body, want) {
			t.Errorf("%s: %d, no %q in %s", path, res.StatusCode, want, body)
		}
	}
}

func TestTheBoardAndATaskShowALanding(t *testing.T) {
	w := newBoardBackend(t)
	const lands, back = task.ID("F0000000000000000000f"), task.ID("G0000000000000000000g")
	w.add(task.Task{ID: lands, Project: "shop", Branch: "checkout", Summary: "Sell it", Status: "reviewing", Pending: []task.Effect{{ID: string(lands) + "/1/0", Do: workflow.MergeBranch}}})
	w.add(task.Task{ID: back, Project: "shop", Branch: "till", Summary: "Count it", Status: "working",
		Results: task.Results{Landing: &task.Landing{Outcome: task.LandingConflict, Why: "branch till conflicts with main", Files: []string{"a.go"}}}})
	v := newEnv(t, w).visitor(t)
	for path, want := range map[string]string{
		"/": ">landing<", "/tasks/" + string(lands): "its work waits in the landing queue", "/tasks/" + string(back): "did not land: branch till conflicts with main: a.go",
	} {
		if res, body := v.get(path); res.StatusCode != 200 || !strings.Contains(body, want) {
			t.Errorf("%s: %d, no %q in %s", path, res.StatusCode, want, body)
		}
	}
}

func TestPauseEverything(t *testing.T) {
	w := newBoardBackend(t)
	h := newEnv(t, w)
	v := h.visitor(t)
	if res, _ := v.form("/pause", url.Values{"back": {"/fleet"}}); res.StatusCode != 303 || !w.api.Control.Paused() {
		t.Errorf("pause: %d", res.StatusCode)
	}
	if _, body := v.get("/"); !strings.Contains(body, "Resume all") {
		t.Error("it cannot be resumed")
	}
	if res, _ := v.form("/resume", url.Values{"back": {"/"}}); res.StatusCode != 303 || w.api.Control.Paused() {
		t.Errorf("resume: %d", res.StatusCode)
	}
}

func TestServerThatIsGone(t *testing.T) {
	w := newBackend(t)
	h := newEnv(t, w)
	v := h.visitor(t)
	w.socket += "-gone"
	h2 := newEnv(t, w)
	v.env = h2
	res, body := v.get("/")
	if res.StatusCode < 500 || strings.Contains(body, w.socket) {
		t.Errorf("%d %s", res.StatusCode, body)
	}
}

// listen reads events of the stream at path.
func (v *visitor) listen(t *testing.T, path, lastID string) <-chan [3]string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r := v.request("GET", path, "").WithContext(ctx)
	r.Header.Set("Accept", "text/event-stream")
	if lastID != "" {
		r.Header.Set("Last-Event-ID", lastID)
	}
	for _, c := range v.cookies {
		r.AddCookie(c)
	}
	res, err := v.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != 200 {
		t.Fatalf("status %d", res.StatusCode)
	}
	out := make(chan [3]string, 100)
	ended := make(chan struct{})
	t.Cleanup(func() { cancel(); <-ended })
	go func() {
		defer close(ended)
		defer close(out)
		defer res.Body.Close()
		var id, event string
		for in := bufio.NewScanner(res.Body); in.Scan(); {
			name, value, _ := strings.Cut(in.Text(), ": ")
			switch name {
			case "id":
				id = value
			case "event":
				event = value
			case "data":
				select {
				case out <- [3]string{id, event, value}:
				case <-ctx.Done():
					return
				}
			}
		}
	}()
	return out
}

func next(t *testing.T, events <-chan [3]string) [3]string {
	t.Helper()
	select {
	case e := <-events:
		return e
	case <-time.After(20 * time.Second):
		t.Fatal("there is no event")
	}
	return [3]string{}
}

func TestLiveBoard(t *testing.T) {
	w := newBoardBackend(t)
	h := newEnv(t, w)
	v := h.visitor(t)
	events := v.listen(t, "/live?topic=board&group=status&after=5", "")
	if e := next(t, events); e[1] != "hello" || e[0] != "5" {
		t.Fatalf("it begins with %v", e)
	}
	w.Change("A0000000000000000000a", func(t *task.Task) { t.Status = "working" })
	e := nextAfterStart(t, events)
	var news struct {
		Row    int64
		Counts map[string]int
		Wants  int
		Cards  []struct{ ID, Column, HTML string }
	}
	if err := json.Unmarshal([]byte(e[2]), &news); err != nil || e[0] != "6" || e[1] != "board" {
		t.Fatalf("%v: %v", e, err)
	}
	if len(news.Cards) != 1 || news.Cards[0].Column != "working" || news.Counts["working"] != 3 || news.Wants != 2 {
		t.Errorf("news %+v", news)
	}
	_, page := v.get("/")
	if !strings.Contains(page, news.Cards[0].HTML) {
		t.Error("the card is not as the page has it")
	}
	late := v.listen(t, "/live?topic=board&group=status&after=2", "5") // the last event id counts, not the row of the page
	if e := next(t, late); e[0] != "5" {
		t.Errorf("it begins with %v", e)
	}
	if e := nextAfterStart(t, late); e[0] != "6" {
		t.Errorf("it goes on with %v", e)
	}
}

// nextAfterStart returns the next event about a row after 5. Whether the state at row 5 comes first depends on
// when the server reads it.
func nextAfterStart(t *testing.T, events <-chan [3]string) [3]string {
	t.Helper()
	for {
		if e := next(t, events); e[0] != "5" {
			return e
		}
	}
}

func TestLiveFilter(t *testing.T) {
	w := newBoardBackend(t)
	h := newEnv(t, w)
	events := h.visitor(t).listen(t, "/live?topic=board&group=status&project=api&after=5", "")
	next(t, events)
	next(t, events) // what is there now
	w.Change(pendingTask, func(t *task.Task) { t.Summary = "other" })
	w.Change(reviewingTask, func(t *task.Task) { t.Summary = "shown" })
	if e := next(t, events); !strings.Contains(e[2], "shown") || strings.Contains(e[2], "other") {
		t.Errorf("a task that is not shown: %v", e)
	}
}

// A task that ends stays on a board that shows what is over, and leaves any other.
func TestLiveBoardOfWhatIsOver(t *testing.T) {
	end := func(t *task.Task) { t.Status, t.Since = "done", time.Now() }
	for query, stays := range map[string]bool{"": true, "&scope=active": false, "&scope=all": true, "&scope=done": true} {
		w := newBoardBackend(t)
		events := newEnv(t, w).visitor(t).listen(t, "/live?topic=board&group=status&after=5"+query, "")
		next(t, events)
		w.Change(reviewingTask, end)
		e := nextAfterStart(t, events)
		if got := strings.Contains(e[2], `"column":"done"`); got != stays || strings.Contains(e[2], `"gone":["`+reviewingTask) == stays {
			t.Errorf("%q: %v", query, e)
		}
	}
}

// A page that knows of a row that is not there is of another journal.
func TestLivePageOfAnotherJournal(t *testing.T) {
	v := newEnv(t, newBoardBackend(t)).visitor(t)
	for _, topic := range []string{"board", "all"} {
		events := v.listen(t, "/live?topic="+topic+"&after=99", "")
		if e := next(t, events); e[1] == "hello" {
			if e = next(t, events); e[1] != "reload" {
				t.Errorf("%s: %v", topic, e)
			}
		}
		if e, more := <-events; more {
			t.Errorf("%s goes on with %v", topic, e)
		}
	}
}

func TestLiveTopics(t *testing.T) {
	w := newBoardBackend(t)
	h := newEnv(t, w)
	v := h.visitor(t)
	one, all := v.listen(t, "/live?topic=task:B0000000000000000000b", ""), v.listen(t, "/live?topic=all", "")
	next(t, one)
	next(t, all)
	w.Change("A0000000000000000000a", func(t *task.Task) {})
	if e := next(t, all); e[1] != "touch" {
		t.Errorf("all: %v", e)
	}
	w.Change("B0000000000000000000b", func(t *task.Task) {})
	if e := next(t, one); e[1] != "touch" || e[0] != "7" {
		t.Errorf("one: %v", e)
	}
}

func TestManyTasks(t *testing.T) {
	w := newBackend(t)
	for i := range 1000 {
		w.add(task.Task{ID: task.ID(fmt.Sprintf("A%020d", i)), Project: "shop", Branch: "b", Summary: "Something that is to be done", Status: "working"})
	}
	v := newEnv(t, w).visitor(t)
	_, body := v.get("/?group=status")
	if n := strings.Count(body, `<li class="card`); n != 100 || !strings.Contains(body, "900 more") {
		t.Errorf("%d cards are shown", n)
	}
	_, body = v.get("/?group=status&full=working")
	if n := strings.Count(body, `<li class="card`); n != 1000 {
		t.Errorf("%d cards are shown of all", n)
	}
	t.Logf("the board has %d bytes with 1000 cards", len(body))
}
