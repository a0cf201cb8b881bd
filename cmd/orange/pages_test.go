package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"orange/internal/core/task"
	"orange/internal/testbrowser"
)

// pageAgent asks a question with options, commits a file of three lines, answers the remarks of the person, and
// commits again.
const pageAgent = `
worker:
  - section: {name: Questions, text: "Which colour has the button?\n\n- blue\n- green"}
  - run: orange task update --status clarification
  - wait:
  - run: "sed -n '/^## Answer/,$p' TASK.md | grep -q green && touch ../../../answered"
  - section: {name: Plan, text: "APPROACH: a button"}
  - run: orange task update --status working
  - commit: {file: button.go, text: "package button\n\nconst Colour = 1\n\nconst Size = 2\n\nconst Shape = 3\n", message: add the button}
  - section: {name: Handoff, text: "DONE: the button is green"}
  - run: orange task update --status agent-review
  - wait:
  - commit: {file: button.go, text: "package button\n\nconst Colour = 1\n\nconst Size = 20\n\nconst Shape = 3\n", message: a larger button}
  - run: "id=$(grep -o 'R[0-9]*-' TASK.md | head -1); printf '\\n## Remarks\\n\\n%s1: resolved, it has a name now\\n%s2: resolved, it is larger\\n%s3: it must be three\\n' $id $id $id >>TASK.md"
  - section: {name: Handoff, text: "DONE: the button is larger"}
  - run: orange task update --status agent-review
  - wait:
reviewer:
  - section: {name: Review, text: "Verdict: PASS\n\nThe button is there, says attempt {attempt}."}
  - run: orange task update --status reviewing
`

// A person does the whole work of a day on the pages of a real server, in a real browser, on a desk and on a phone.
func TestADayOnThePages(t *testing.T) {
	t.Parallel()
	browser := testbrowser.Start(t)
	for name, size := range map[string][2]int64{"desk": {1280, 800}, "phone": {390, 844}} {
		t.Run(name, func(t *testing.T) {
			s := openEnv(t, "tmux")
			b := browser.NewTab(t)
			b.Size(size[0], size[1])
			p := &pageVisit{env: s, Tab: b, name: name}
			p.signIn()
			p.dragsACard()
			id := s.create("button", pageAgent)
			p.answersWithAnOption(id)
			p.reviewsAndMerges(id)
			p.tagsACard()
			b.Quiet()
		})
	}
}

// pageVisit is a person at the pages of an installation.
type pageVisit struct {
	*env
	*testbrowser.Tab
	name    string
	address string
}

// signIn opens the address that orange web prints.
func (p *pageVisit) signIn() {
	p.t.Helper()
	login := strings.TrimSpace(p.orange("web"))
	p.address = login[:strings.Index(login, "/?")]
	p.Do(chromedp.Navigate(login))
	p.open("/")
}

// open opens a page, and waits until it hears of changes.
func (p *pageVisit) open(path string) {
	p.t.Helper()
	p.Do(chromedp.Navigate(p.address + path))
	p.Wait(`"connected" in document.body.dataset`)
}

// dragsACard starts a task: its card is dragged to a state in the tray.
func (p *pageVisit) dragsACard() {
	p.t.Helper()
	id := p.create("search", "worker:\n  - idle:\n", "--workflow", "solo", "--no-spawn")
	p.open("/")
	card := "#t-" + string(id)
	p.Wait(fmt.Sprintf("document.querySelector('%s')", card))
	if p.name == "phone" { // the columns are tabs
		p.Click("#columns a[data-tab=wait]")
		p.Wait(fmt.Sprintf("document.querySelector('%s').getBoundingClientRect().left < 100", card))
	}
	p.Drag(card+" .t", "main h1", false)
	p.Wait(`document.querySelector('.tray [data-to="working"]')?.classList.contains("can")`)
	p.Shot("day-drag-" + p.name)
	x, y := p.At(`.tray [data-to="working"]`)
	p.Do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x, y, chromedp.ButtonLeft), chromedp.MouseEvent(input.DispatchMouseEventTypeMouseReleased, x, y, chromedp.ButtonLeft))
	p.reaches(id, "working")
	p.Wait(fmt.Sprintf(`document.querySelector('[data-col]:not([data-col="wait"]) %s')?.textContent.includes("working")`, card)) // whose turn it is depends on the agent, which idles soon
	p.Shot("day-board-" + p.name)
	p.orange("task", "cancel", string(id), "--yes")
}

// answersWithAnOption finds a question in the inbox and chooses one of its options.
func (p *pageVisit) answersWithAnOption(id task.ID) {
	p.t.Helper()
	p.reaches(id, "clarification")
	p.open("/inbox")
	p.Click(fmt.Sprintf("#e-%s", id))
	p.Wait(`[...document.querySelectorAll("[data-fill]")].some((o) => o.textContent === "green" && o.getClientRects().length)`)
	p.Shot("day-question-" + p.name)
	p.Click(`.options button:nth-of-type(2)`)
	p.Wait(`document.activeElement.value === "green"`)
	p.Click(fmt.Sprintf("#item-%s button[value=answer]", id))
	p.reaches(id, "reviewing")
	if !p.has("answered") {
		p.t.Error("the agent did not read the answer")
	}
}

// reviewsAndMerges writes three remarks, reads what the agent replied, and merges.
func (p *pageVisit) reviewsAndMerges(id task.ID) {
	p.t.Helper()
	p.open("/tasks/" + string(id))
	for _, remark := range []struct {
		line int
		text string
	}{{3, "say which"}, {5, "larger"}, {7, "why three?"}} {
		row := fmt.Sprintf(`details[data-path="button.go"] tr:has(> td[data-line="%d"])`, remark.line)
		p.Click(row + " .no:nth-child(2)")
		p.Do(chromedp.SendKeys(chromedp.CSS(row+" + .remark-row textarea"), remark.text))
	}
	p.Shot("day-remarks-" + p.name)
	before := p.task(id).Visit
	p.Click("#review .whole button")
	p.Wait(`!document.querySelector(".remark-row")`)
	p.await(id, "the change is reviewed", func(t task.Task) bool {
		return t.Status == "reviewing" && t.Visit > before && len(t.Pending) == 0
	})
	p.open("/tasks/" + string(id))
	p.Wait(`document.querySelectorAll(".thread").length === 3`)
	replies := testbrowser.Eval[[]string](p.Tab, `[...document.querySelectorAll(".thread")].map((t) => t.querySelector(".badge").textContent + ": " + [...t.querySelectorAll(".pre")].pop().textContent)`)
	slices.Sort(replies)
	if want := []string{"answered: it must be three", "resolved: resolved, it has a name now", "resolved: resolved, it is larger"}; !slices.Equal(replies, want) {
		p.t.Errorf("the replies are %q, not %q", replies, want)
	}
	p.Shot("day-replies-" + p.name)
	p.orange("land", "pause")
	p.Click("#task-decide .main-act summary")
	p.Click("#task-decide .main-act form button[name=do]")
	p.await(id, "the work waits to land", func(t task.Task) bool { return t.MergeEffect() != nil })
	p.open("/inbox")
	p.Wait(`document.getElementById("wants").textContent === "1"`)
	p.Click("#e-held-shop")
	p.Wait(`document.querySelector("#item-held-shop button.go")?.getClientRects().length`)
	p.Shot("day-held-" + p.name)
	p.Click("#item-held-shop button.go")
	p.reaches(id, "done")
	p.open("/tasks/" + string(id))
	p.Wait(`document.getElementById("status")?.textContent === "done"`)
	if got := p.git(p.repo, "show", "main:button.go"); !strings.Contains(got, "const Size = 20") {
		p.t.Errorf("main has %s", got)
	}
	p.open("/tasks/" + string(id) + "?tab=changes")
	p.Wait(`document.querySelector('details[data-path="button.go"]')`) // the merged work stays
	p.Shot("day-merged-" + p.name)
}

// tagsACard approves the plan of a card of the embedded board.
func (p *pageVisit) tagsACard() {
	p.t.Helper()
	id := p.addCard("Login", demonstration(), "--workflow", "joan-board")
	p.waitsFor(id, "1", "Plan-Pending-Approval")
	p.open("/kanban")
	p.Wait(`document.querySelector('#k-1 button[value="tag:Plan-Approved"]')`)
	p.Shot("day-kanban-" + p.name)
	p.Click(`#k-1 button[value="tag:Plan-Approved"]`)
	p.waitsFor(id, "1", "Implementation-Failed") // the architect finished the plan, and the developer failed
	p.Wait(`[...document.querySelectorAll("#k-1 .badge")].some((n) => n.textContent === "Implementation-Failed")`)
}
