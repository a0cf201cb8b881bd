package trackertest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"orange/internal/core/board"
	"orange/internal/core/tracker"
	"orange/internal/runtime/trackers"
	"orange/internal/wait"
)

func openedPull(y *forgeEnv) {
	made, head := y.pushAndOpen("work/one")
	want := tracker.PR{Number: made.Number, URL: made.URL, State: tracker.Open, Title: "Change of work/one", Author: made.Author, Branch: "work/one", Base: y.BaseBranch(), Head: head}
	if made.Number < 1 || !strings.HasPrefix(made.URL, "http") || made.Author == "" || made.CreatedAt.IsZero() {
		y.Errorf("%+v", made)
	}
	shown := y.readPull(made.Number)
	if shown.Mergeable == "no" {
		y.Error("it cannot be merged")
	}
	for what, got := range map[string]tracker.PR{"opened": made, "shown": shown} {
		got.CreatedAt, got.Mergeable = want.CreatedAt, ""
		y.requireEqual(what, want, got)
	}
}

func foundAgain(y *forgeEnv) {
	first, _ := y.pushAndOpen("work/one")
	other, _ := y.pushAndOpen("work/two")
	if first.Number == other.Number {
		y.Fatalf("two branches have one pull request: %+v", first)
	}
	pull := y.newPull("work/one")
	pull.Title, pull.Body = "Another title", "Another text."
	head := y.PushBranch(y.T, "work/one")
	again := y.createPull(pull)
	if again.Number != first.Number || again.Head != head || again.State != tracker.Open {
		y.Errorf("%+v, want number %d at %s", again, first.Number, head)
	}
	if got := y.listNumbers("work/one"); !slices.Equal(got, []int{first.Number}) {
		y.Errorf("%v, want one", got)
	}
}

func closedThenOpened(y *forgeEnv) {
	first, _ := y.pushAndOpen("work/one")
	y.ClosePull(y.T, first.Number)
	y.PushBranch(y.T, "work/one")
	second := y.createPull(y.newPull("work/one"))
	if second.Number == first.Number || second.State != tracker.Open {
		y.Errorf("%+v after %+v was closed", second, first)
	}
	y.requireState(first.Number, tracker.Closed)
	y.requireState(second.Number, tracker.Open)
}

func noBranch(y *forgeEnv) {
	pr, err := y.forge.CreatePR(y.newContext(), y.newPull("nowhere"))
	if err == nil {
		y.Fatalf("opened %+v", pr)
	}
	y.oneLine(err)
	if got := y.listNumbers("nowhere"); len(got) != 0 {
		y.Errorf("%v", got)
	}
}

func noName(y *forgeEnv) {
	y.pushAndOpen("work/one")
	for _, name := range []string{"", " ", "a b", "x:y", "a\nb", "\x00", strings.Repeat("n", 1000)} {
		pull := y.newPull("work/one")
		pull.Branch = name
		if pr, err := y.forge.CreatePR(y.newContext(), pull); err == nil {
			y.Errorf("%.40q: opened %+v", name, pr)
		} else {
			y.oneLine(err)
		}
		if list, err := y.forge.ListBranchPRs(y.newContext(), name); len(list) != 0 {
			y.Errorf("%.40q has %v, %v", name, pullNumbers(list), err)
		}
	}
}

func openedAtOnce(y *forgeEnv) {
	y.PushBranch(y.T, "work/one")
	clients := []trackers.Forge{y.forge, y.OpenClient(y.T), y.OpenClient(y.T)}
	found := make([]int, len(clients))
	var wait sync.WaitGroup
	for i, c := range clients {
		wait.Go(func() {
			for range tries {
				if pr, err := c.CreatePR(y.newContext(), y.newPull("work/one")); err == nil {
					found[i] = pr.Number
					return
				}
			}
		})
	}
	wait.Wait()
	list := slices.DeleteFunc(y.listNumbers("work/one"), func(n int) bool { return y.readPull(n).State != tracker.Open }) // a forge may allow several concurrently
	if len(list) != 1 || !slices.Equal(found, []int{list[0], list[0], list[0]}) {
		y.Errorf("there are %v, and clients have %v", list, found)
	}
}

func lostOpening(y *forgeEnv) {
	y.requireSupport(Lost)
	y.PushBranch(y.T, "work/one")
	y.InjectFault(Fault{Kind: Lost, Times: 1, Writes: true})
	var pr tracker.PR
	y.retryUntilDone("open", func() (err error) {
		pr, err = y.forge.CreatePR(y.newContext(), y.newPull("work/one"))
		return err
	})
	if got := y.listNumbers("work/one"); !slices.Equal(got, []int{pr.Number}) {
		y.Errorf("there are %v, want %d", got, pr.Number)
	}
}

func requiredChecks(y *forgeEnv) {
	required := func() []string {
		names, err := y.forge.RequiredChecks(y.newContext(), y.BaseBranch())
		if err != nil {
			y.Fatal(err)
		}
		slices.Sort(names)
		return names
	}
	if got := required(); len(got) != 0 {
		y.Errorf("%v are required although nothing is protected", got)
	}
	y.RequireChecks(y.T, "ci/test", "build")
	if got := required(); !slices.Equal(got, []string{"build", "ci/test"}) {
		y.Errorf("%v", got)
	}
}

func broughtUpToDate(y *forgeEnv) {
	pr, head := y.pushAndOpen("work/one")
	y.PushBranch(y.T, y.BaseBranch())
	y.requireRefusal("bring another commit up to date", y.forge.UpdatePR(y.newContext(), pr.Number, strings.Repeat("0", 40)))
	if now := y.readPull(pr.Number).Head; now != head {
		y.Fatalf("its head moved to %s", now)
	}
	y.retryUntilDone("bring it up to date", func() error { return y.forge.UpdatePR(y.newContext(), pr.Number, head) })
	moved := func() bool { return y.readPull(pr.Number).Head != head }
	wait.Until(y.T, "a new head", moved, func() any { return y.readPull(pr.Number) })
	merged := y.readPull(pr.Number).Head
	y.retryUntilDone("merge it", func() error { return y.forge.MergePR(y.newContext(), pr.Number, merged) })
	y.requireState(pr.Number, tracker.Merged)
}

// checkStates returns the checks of a pull request, by name.
func (y *forgeEnv) checkStates(number int) map[string]string {
	y.Helper()
	out := map[string]string{}
	for _, c := range y.readPull(number).Checks {
		if _, twice := out[c.Name]; twice {
			y.Errorf("check %q is there twice", c.Name)
		}
		out[c.Name] = c.State
	}
	return out
}

func checksOfHead(y *forgeEnv) {
	pr, head := y.pushAndOpen("work/one")
	if got := y.checkStates(pr.Number); len(got) != 0 {
		y.Errorf("%v before anything was checked", got)
	}
	want := map[string]string{"build": tracker.CheckPassed, "ci/test": tracker.CheckFailed, "lint": tracker.CheckPending, "ci/docs": tracker.CheckPassed, "style": tracker.CheckFailed}
	for name, state := range want {
		y.AddCheck(y.T, head, tracker.Check{Name: name, State: state, URL: "https://ci.example/" + name, Text: "Text of " + name})
	}
	y.requireEqual("checks", want, y.checkStates(pr.Number))
	for _, c := range y.readPull(pr.Number).Checks {
		if c.URL != "https://ci.example/"+c.Name || !strings.Contains(c.Text, "Text of "+c.Name) {
			y.Errorf("%+v", c)
		}
	}
	next := y.PushBranch(y.T, "work/one")
	if got := y.checkStates(pr.Number); len(got) != 0 {
		y.Errorf("the new head has the checks of the old one: %v", got)
	}
	y.AddCheck(y.T, next, tracker.Check{Name: "build", State: tracker.CheckPending})
	y.requireEqual("checks", map[string]string{"build": tracker.CheckPending}, y.checkStates(pr.Number))
}

func latestCheck(y *forgeEnv) {
	pr, head := y.pushAndOpen("work/one")
	for _, state := range []string{tracker.CheckPending, tracker.CheckFailed, tracker.CheckPending, tracker.CheckPassed} {
		for _, name := range []string{"build", "ci/test"} {
			y.AddCheck(y.T, head, tracker.Check{Name: name, State: state})
		}
		y.requireEqual("checks", map[string]string{"build": state, "ci/test": state}, y.checkStates(pr.Number))
	}
}

// aboveOnePage is larger than a page of most forges.
const aboveOnePage = 60

func manyChecks(y *forgeEnv) {
	pr, head := y.pushAndOpen("work/one")
	for i := range aboveOnePage {
		y.AddCheck(y.T, head, tracker.Check{Name: fmt.Sprint("build ", i), State: tracker.CheckPassed})
		y.AddCheck(y.T, head, tracker.Check{Name: fmt.Sprint("ci/", i), State: tracker.CheckPassed})
	}
	y.AddCheck(y.T, head, tracker.Check{Name: "the last", State: tracker.CheckFailed})
	if got := y.checkStates(pr.Number); len(got) != 2*aboveOnePage+1 || got["the last"] != tracker.CheckFailed {
		y.Errorf("%d checks, want %d", len(got), 2*aboveOnePage+1)
	}
}

func reviewsInOrder(y *forgeEnv) {
	pr, head := y.pushAndOpen("work/one")
	given := []tracker.Review{
		{Author: "bob", Verdict: tracker.Commented, Text: "What is this for?"},
		{Author: "carol", Verdict: tracker.ChangesRequested, Text: "Not like this.\n\nTwo paragraphs."},
		{Author: "bob", Verdict: tracker.Approved, Text: "Good."},
	}
	for _, r := range given {
		y.AddReview(y.T, pr.Number, r)
	}
	got := y.readPull(pr.Number).Reviews
	if len(got) != len(given) {
		y.Fatalf("%d reviews, want %d: %+v", len(got), len(given), got)
	}
	seen := map[string]bool{}
	for i, r := range got {
		want := given[i]
		if r.Verdict != want.Verdict || r.Text != want.Text || r.Commit != head || r.At.IsZero() || r.ID == "" || seen[r.ID] {
			y.Errorf("review %d is %+v, want %+v at %s", i, r, want, head)
		}
		seen[r.ID] = true
		if limit, is := y.ForgeWorld.(Limit); r.Author != want.Author && (!is || limit.CanDo(Names)) {
			y.Errorf("review %d is by %q, want %q", i, r.Author, want.Author)
		}
	}
	y.PushBranch(y.T, "work/one")
	if got := y.readPull(pr.Number).Reviews; len(got) != len(given) || got[1].Commit != head {
		y.Errorf("after a push: %+v", got)
	}
}

func lineRemarks(y *forgeEnv) {
	y.requireSupport(Lines)
	pr, _ := y.pushAndOpen("work/one")
	want := [][]tracker.Remark{
		{{File: "main.go", Line: 3, Text: "Why?"}, {File: "docs/läs mig.md", Line: 1, Text: "Typo."}},
		nil,
		{{File: "main.go", Line: 4, Text: "Here, too."}},
	}
	for i, lines := range want {
		y.AddReview(y.T, pr.Number, tracker.Review{Author: "bob", Verdict: tracker.Commented, Text: fmt.Sprint("Review ", i), Lines: lines})
	}
	var got [][]tracker.Remark
	for _, r := range y.readPull(pr.Number).Reviews {
		got = append(got, r.Lines)
	}
	y.requireEqual("remarks", want, got)
}

func manyReviews(y *forgeEnv) {
	pr, _ := y.pushAndOpen("work/one")
	for i := range aboveOnePage {
		y.AddReview(y.T, pr.Number, tracker.Review{Author: "bob", Verdict: tracker.Commented, Text: fmt.Sprintf("review %d.", i)})
	}
	got := y.readPull(pr.Number).Reviews
	if len(got) != aboveOnePage {
		y.Fatalf("%d reviews, want %d", len(got), aboveOnePage)
	}
	for i, r := range got {
		if r.Text != fmt.Sprintf("review %d.", i) {
			y.Fatalf("review %d is %q", i, r.Text)
		}
	}
}

func ofBranch(y *forgeEnv) {
	closed, _ := y.pushAndOpen("work")
	y.ClosePull(y.T, closed.Number)
	merged, head := y.pushAndOpen("work")
	if err := y.forge.MergePR(y.newContext(), merged.Number, head); err != nil {
		y.Fatal(err)
	}
	open, _ := y.pushAndOpen("work")
	other, _ := y.pushAndOpen("work-2")
	list, err := y.forge.ListBranchPRs(y.newContext(), "work")
	if err != nil {
		y.Fatal(err)
	}
	states := map[int]string{}
	for _, pr := range list {
		states[pr.Number] = pr.State
		if pr.Branch != "work" || len(pr.Checks)+len(pr.Reviews) != 0 || pr.CreatedAt.IsZero() {
			y.Errorf("%+v", pr)
		}
	}
	want := map[int]string{closed.Number: tracker.Closed, merged.Number: tracker.Merged, open.Number: tracker.Open}
	y.requireEqual("those of the branch", want, states)
	if got := y.listNumbers("work-2"); !slices.Equal(got, []int{other.Number}) {
		y.Errorf("those of another are %v", got)
	}
	if got := y.listNumbers("wor"); len(got) != 0 {
		y.Errorf("those of none are %v", got)
	}
}

func manyOfBranch(y *forgeEnv) {
	var want []int
	for range aboveOnePage {
		pr, _ := y.pushAndOpen("work")
		y.ClosePull(y.T, pr.Number)
		want = append(want, pr.Number)
	}
	if got := y.listNumbers("work"); !slices.Equal(slices.Sorted(slices.Values(got)), want) {
		y.Errorf("%d pull requests, want %d", len(got), len(want))
	}
}

func mentionedPulls(y *forgeEnv) {
	want := map[string][]int{}
	for _, n := range []tracker.NewPR{
		{Branch: "a", Title: "ENG-12: in the title"},
		{Branch: "b", Title: "In the text", Body: "This is about eng-12."},
		{Branch: "task/eng-12-in-the-branch", Title: "In the branch"},
		{Branch: "c", Title: "ENG-1, XENG-12, ENG-123", Body: "and ENG-120"},
		{Branch: "d", Title: "Nothing"},
	} {
		y.PushBranch(y.T, n.Branch)
		n.Base = y.BaseBranch()
		pr := y.createPull(n)
		switch n.Branch {
		case "a", "b", "task/eng-12-in-the-branch":
			want["ENG-12"] = append(want["ENG-12"], pr.Number)
		case "c":
			want["ENG-1"] = append(want["ENG-1"], pr.Number)
		}
	}
	for _, key := range []string{"ENG-12", "ENG-1", "ENG-9", "", ".*"} {
		list, err := y.forge.ListMentioningPRs(y.newContext(), key)
		if err != nil {
			y.Errorf("%q: %v", key, err)
		}
		got := pullNumbers(list)
		if slices.Sort(got); !slices.Equal(got, want[key]) {
			y.Errorf("%q is mentioned by %v, want %v", key, got, want[key])
		}
	}
}

func mergedTwice(y *forgeEnv) {
	pr, head := y.pushAndOpen("work/one")
	for range 3 {
		if err := y.forge.MergePR(y.newContext(), pr.Number, head); err != nil {
			y.Fatal(err)
		}
		y.requireState(pr.Number, tracker.Merged)
	}
	if err := y.OpenClient(y.T).MergePR(y.newContext(), pr.Number, head); err != nil {
		y.Errorf("another client: %v", err)
	}
}

func lostMerge(y *forgeEnv) {
	y.requireSupport(Lost)
	pr, head := y.pushAndOpen("work/one")
	y.InjectFault(Fault{Kind: Lost, Times: 1, Writes: true})
	y.retryUntilDone("merge", func() error { return y.forge.MergePR(y.newContext(), pr.Number, head) })
	y.requireState(pr.Number, tracker.Merged)
}

func movedHead(y *forgeEnv) {
	pr, old := y.pushAndOpen("work/one")
	head := y.PushBranch(y.T, "work/one")
	for _, commit := range []string{old, strings.Repeat("0", 40), ""} {
		y.requireRefusal("merge another commit", y.forge.MergePR(y.newContext(), pr.Number, commit))
		y.requireState(pr.Number, tracker.Open)
	}
	if err := y.forge.MergePR(y.newContext(), pr.Number, head); err != nil {
		y.Fatal(err)
	}
	y.requireState(pr.Number, tracker.Merged)
}

func mergedOther(y *forgeEnv) {
	pr, old := y.pushAndOpen("work/one")
	head := y.PushBranch(y.T, "work/one")
	if err := y.forge.MergePR(y.newContext(), pr.Number, head); err != nil {
		y.Fatal(err)
	}
	y.requireRefusal("merge what was not merged", y.forge.MergePR(y.newContext(), pr.Number, old))
}

func closedNotMerged(y *forgeEnv) {
	pr, head := y.pushAndOpen("work/one")
	y.ClosePull(y.T, pr.Number)
	y.requireRefusal("merge a closed one", y.forge.MergePR(y.newContext(), pr.Number, head))
	y.requireState(pr.Number, tracker.Closed)
}

func noSuchPR(y *forgeEnv) {
	_, head := y.pushAndOpen("work/one")
	for _, number := range []int{0, -1, 999999} {
		_, show := y.forge.ReadPR(y.newContext(), number)
		merge := y.forge.MergePR(y.newContext(), number, head)
		for what, err := range map[string]error{"show": show, "merge": merge} {
			if !errors.Is(err, tracker.ErrNotFound) {
				y.Errorf("%s %d: %v", what, number, err)
				continue
			}
			y.oneLine(err)
		}
	}
}

func hostileReview(y *forgeEnv) {
	pr, head := y.pushAndOpen("work/one")
	for name, text := range hostileTexts() {
		if name == "a zero" || name == "much" || name == "control characters" {
			continue // forges store these in their own form
		}
		y.AddReview(y.T, pr.Number, tracker.Review{Author: "bob", Verdict: tracker.Commented, Text: text})
		got := y.readPull(pr.Number).Reviews
		if len(got) == 0 || got[len(got)-1].Text != text {
			y.Errorf("%s: %+v, want %q", name, got[max(0, len(got)-1):], text)
		}
	}
	y.AddCheck(y.T, head, tracker.Check{Name: "<b>bold</b> \"quoted\"", State: tracker.CheckPassed, Text: "$(id) `id` {{ x }}"})
	if got := y.checkStates(pr.Number); got["<b>bold</b> \"quoted\""] != tracker.CheckPassed {
		y.Errorf("checks: %v", got)
	}
}

// forgeOperations returns every operation of a forge.
func (y *forgeEnv) forgeOperations(pr tracker.PR) map[string]func() error {
	return map[string]func() error{
		"show":     func() error { _, err := y.forge.ReadPR(y.newContext(), pr.Number); return err },
		"list":     func() error { _, err := y.forge.ListBranchPRs(y.newContext(), pr.Branch); return err },
		"mentions": func() error { _, err := y.forge.ListMentioningPRs(y.newContext(), "ENG-1"); return err },
		"open":     func() error { _, err := y.forge.CreatePR(y.newContext(), y.newPull(pr.Branch)); return err },
		"merge":    func() error { return y.forge.MergePR(y.newContext(), pr.Number, pr.Head) },
	}
}

func brokenForge(y *forgeEnv)  { y.runFailing(Broken) }
func limitedForge(y *forgeEnv) { y.runFailing(Limited) }

// runFailing runs each operation while the forge fails, until it succeeds.
func (y *forgeEnv) runFailing(kind string) {
	y.requireSupport(kind)
	pr, _ := y.pushAndOpen("work/one")
	todo := y.forgeOperations(pr)
	for _, what := range []string{"show", "list", "mentions", "open", "merge"} {
		y.InjectFault(Fault{Kind: kind, Times: 2})
		y.retryUntilDone(what, todo[what])
		y.InjectFault(Fault{})
	}
	y.requireState(pr.Number, tracker.Merged)
	y.PushBranch(y.T, "work/two")
	y.InjectFault(Fault{Kind: kind, Times: 2, Writes: true})
	y.retryUntilDone("open another", func() error { _, err := y.forge.CreatePR(y.newContext(), y.newPull("work/two")); return err })
	if got := y.listNumbers("work/two"); len(got) != 1 {
		y.Errorf("there are %v, want one", got)
	}
}

func deniedForge(y *forgeEnv) {
	y.requireSupport(Denied)
	pr, _ := y.pushAndOpen("work/one")
	y.InjectFault(Fault{Kind: Denied, Times: 1000})
	for what, do := range y.forgeOperations(pr) {
		err := do()
		var no *board.Refusal
		switch {
		case err == nil:
			y.Errorf("%s: no error", what)
			continue
		case errors.As(err, &no) || errors.Is(err, tracker.ErrNotFound):
			y.Errorf("%s: a bad secret is taken for something else: %v", what, err)
		}
		y.oneLine(err)
		for _, part := range []string{"Bearer ", "Authorization"} {
			if strings.Contains(err.Error(), part) {
				y.Errorf("%s: the error shows %q", what, part)
			}
		}
	}
	y.InjectFault(Fault{})
	y.requireState(pr.Number, tracker.Open)
}
