package trackertest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"orange/internal/core/board"
	"orange/internal/core/tracker"
	"orange/internal/runtime/track"
)

func opened(y *yard) {
	made, head := y.opens("work/one")
	want := tracker.PR{Number: made.Number, URL: made.URL, State: tracker.Open, Title: "Change of work/one", Author: made.Author, Branch: "work/one", Base: y.Base(), Head: head}
	if made.Number < 1 || !strings.HasPrefix(made.URL, "http") || made.Author == "" || made.CreatedAt.IsZero() {
		y.Errorf("%+v", made)
	}
	shown := y.show(made.Number)
	if shown.Mergeable == "no" {
		y.Error("it cannot be merged")
	}
	for what, got := range map[string]tracker.PR{"opened": made, "shown": shown} {
		got.CreatedAt, got.Mergeable = want.CreatedAt, ""
		y.same(what, want, got)
	}
}

func foundAgain(y *yard) {
	first, _ := y.opens("work/one")
	other, _ := y.opens("work/two")
	if first.Number == other.Number {
		y.Fatalf("two branches have one pull request: %+v", first)
	}
	wish := y.wish("work/one")
	wish.Title, wish.Body = "Another title", "Another text."
	head := y.Push(y.T, "work/one")
	again := y.create(wish)
	if again.Number != first.Number || again.Head != head || again.State != tracker.Open {
		y.Errorf("%+v, want number %d at %s", again, first.Number, head)
	}
	if got := y.listed("work/one"); !slices.Equal(got, []int{first.Number}) {
		y.Errorf("%v, want one", got)
	}
}

func closedThenOpened(y *yard) {
	first, _ := y.opens("work/one")
	y.Close(y.T, first.Number)
	y.Push(y.T, "work/one")
	second := y.create(y.wish("work/one"))
	if second.Number == first.Number || second.State != tracker.Open {
		y.Errorf("%+v after %+v was closed", second, first)
	}
	y.is(first.Number, tracker.Closed)
	y.is(second.Number, tracker.Open)
}

func noBranch(y *yard) {
	pr, err := y.forge.CreatePR(y.ctx(), y.wish("nowhere"))
	if err == nil {
		y.Fatalf("opened %+v", pr)
	}
	y.oneLine(err)
	if got := y.listed("nowhere"); len(got) != 0 {
		y.Errorf("%v", got)
	}
}

func noName(y *yard) {
	y.opens("work/one")
	for _, name := range []string{"", " ", "a b", "x:y", "a\nb", "\x00", strings.Repeat("n", 1000)} {
		wish := y.wish("work/one")
		wish.Branch = name
		if pr, err := y.forge.CreatePR(y.ctx(), wish); err == nil {
			y.Errorf("%.40q: opened %+v", name, pr)
		} else {
			y.oneLine(err)
		}
		if list, err := y.forge.PRs(y.ctx(), name); len(list) != 0 {
			y.Errorf("%.40q has %v, %v", name, numbers(list), err)
		}
	}
}

func openedAtOnce(y *yard) {
	y.Push(y.T, "work/one")
	clients := []track.Forge{y.forge, y.Open(y.T), y.Open(y.T)}
	found := make([]int, len(clients))
	var wait sync.WaitGroup
	for i, c := range clients {
		wait.Go(func() {
			for range tries {
				if pr, err := c.CreatePR(y.ctx(), y.wish("work/one")); err == nil {
					found[i] = pr.Number
					return
				}
			}
		})
	}
	wait.Wait()
	list := slices.DeleteFunc(y.listed("work/one"), func(n int) bool { return y.show(n).State != tracker.Open }) // a forge may let several be opened at once
	if len(list) != 1 || !slices.Equal(found, []int{list[0], list[0], list[0]}) {
		y.Errorf("there are %v, and clients have %v", list, found)
	}
}

func lostOpening(y *yard) {
	y.needs(Lost)
	y.Push(y.T, "work/one")
	y.Fail(Fault{Kind: Lost, Times: 1, Writes: true})
	var pr tracker.PR
	y.insist("open", func() (err error) {
		pr, err = y.forge.CreatePR(y.ctx(), y.wish("work/one"))
		return err
	})
	if got := y.listed("work/one"); !slices.Equal(got, []int{pr.Number}) {
		y.Errorf("there are %v, want %d", got, pr.Number)
	}
}

// checked are the checks of a pull request, by name.
func (y *yard) checked(number int) map[string]string {
	y.Helper()
	out := map[string]string{}
	for _, c := range y.show(number).Checks {
		if _, twice := out[c.Name]; twice {
			y.Errorf("check %q is there twice", c.Name)
		}
		out[c.Name] = c.State
	}
	return out
}

func checksOfHead(y *yard) {
	pr, head := y.opens("work/one")
	if got := y.checked(pr.Number); len(got) != 0 {
		y.Errorf("%v before anything was checked", got)
	}
	want := map[string]string{"build": tracker.CheckPassed, "ci/test": tracker.CheckFailed, "lint": tracker.CheckPending, "ci/docs": tracker.CheckPassed, "style": tracker.CheckFailed}
	for name, state := range want {
		y.Check(y.T, head, tracker.Check{Name: name, State: state, URL: "https://ci.example/" + name, Text: "Text of " + name})
	}
	y.same("checks", want, y.checked(pr.Number))
	for _, c := range y.show(pr.Number).Checks {
		if c.URL != "https://ci.example/"+c.Name || !strings.Contains(c.Text, "Text of "+c.Name) {
			y.Errorf("%+v", c)
		}
	}
	next := y.Push(y.T, "work/one")
	if got := y.checked(pr.Number); len(got) != 0 {
		y.Errorf("the new head has the checks of the old one: %v", got)
	}
	y.Check(y.T, next, tracker.Check{Name: "build", State: tracker.CheckPending})
	y.same("checks", map[string]string{"build": tracker.CheckPending}, y.checked(pr.Number))
}

func latestCheck(y *yard) {
	pr, head := y.opens("work/one")
	for _, state := range []string{tracker.CheckPending, tracker.CheckFailed, tracker.CheckPending, tracker.CheckPassed} {
		for _, name := range []string{"build", "ci/test"} {
			y.Check(y.T, head, tracker.Check{Name: name, State: state})
		}
		y.same("checks", map[string]string{"build": state, "ci/test": state}, y.checked(pr.Number))
	}
}

// crowd is more than a page of most forges.
const crowd = 60

func manyChecks(y *yard) {
	pr, head := y.opens("work/one")
	for i := range crowd {
		y.Check(y.T, head, tracker.Check{Name: fmt.Sprint("build ", i), State: tracker.CheckPassed})
		y.Check(y.T, head, tracker.Check{Name: fmt.Sprint("ci/", i), State: tracker.CheckPassed})
	}
	y.Check(y.T, head, tracker.Check{Name: "the last", State: tracker.CheckFailed})
	if got := y.checked(pr.Number); len(got) != 2*crowd+1 || got["the last"] != tracker.CheckFailed {
		y.Errorf("%d checks, want %d", len(got), 2*crowd+1)
	}
}

func reviewsInOrder(y *yard) {
	pr, head := y.opens("work/one")
	given := []tracker.Review{
		{Author: "bob", Verdict: tracker.Commented, Text: "What is this for?"},
		{Author: "carol", Verdict: tracker.ChangesRequested, Text: "Not like this.\n\nTwo paragraphs."},
		{Author: "bob", Verdict: tracker.Approved, Text: "Good."},
	}
	for _, r := range given {
		y.Review(y.T, pr.Number, r)
	}
	got := y.show(pr.Number).Reviews
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
		if limit, is := y.ForgeWorld.(Limit); r.Author != want.Author && (!is || limit.Can(Names)) {
			y.Errorf("review %d is by %q, want %q", i, r.Author, want.Author)
		}
	}
	y.Push(y.T, "work/one")
	if got := y.show(pr.Number).Reviews; len(got) != len(given) || got[1].Commit != head {
		y.Errorf("after a push: %+v", got)
	}
}

func remarks(y *yard) {
	y.needs(Lines)
	pr, _ := y.opens("work/one")
	want := [][]tracker.Remark{
		{{File: "main.go", Line: 3, Text: "Why?"}, {File: "docs/läs mig.md", Line: 1, Text: "Typo."}},
		nil,
		{{File: "main.go", Line: 4, Text: "Here, too."}},
	}
	for i, lines := range want {
		y.Review(y.T, pr.Number, tracker.Review{Author: "bob", Verdict: tracker.Commented, Text: fmt.Sprint("Review ", i), Lines: lines})
	}
	var got [][]tracker.Remark
	for _, r := range y.show(pr.Number).Reviews {
		got = append(got, r.Lines)
	}
	y.same("remarks", want, got)
}

func manyReviews(y *yard) {
	pr, _ := y.opens("work/one")
	for i := range crowd {
		y.Review(y.T, pr.Number, tracker.Review{Author: "bob", Verdict: tracker.Commented, Text: fmt.Sprintf("review %d.", i)})
	}
	got := y.show(pr.Number).Reviews
	if len(got) != crowd {
		y.Fatalf("%d reviews, want %d", len(got), crowd)
	}
	for i, r := range got {
		if r.Text != fmt.Sprintf("review %d.", i) {
			y.Fatalf("review %d is %q", i, r.Text)
		}
	}
}

func ofBranch(y *yard) {
	closed, _ := y.opens("work")
	y.Close(y.T, closed.Number)
	merged, head := y.opens("work")
	if err := y.forge.Merge(y.ctx(), merged.Number, head); err != nil {
		y.Fatal(err)
	}
	open, _ := y.opens("work")
	other, _ := y.opens("work-2")
	list, err := y.forge.PRs(y.ctx(), "work")
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
	y.same("those of the branch", want, states)
	if got := y.listed("work-2"); !slices.Equal(got, []int{other.Number}) {
		y.Errorf("those of another are %v", got)
	}
	if got := y.listed("wor"); len(got) != 0 {
		y.Errorf("those of none are %v", got)
	}
}

func manyOfBranch(y *yard) {
	var want []int
	for range crowd {
		pr, _ := y.opens("work")
		y.Close(y.T, pr.Number)
		want = append(want, pr.Number)
	}
	if got := y.listed("work"); !slices.Equal(slices.Sorted(slices.Values(got)), want) {
		y.Errorf("%d pull requests, want %d", len(got), len(want))
	}
}

func mentioned(y *yard) {
	want := map[string][]int{}
	for _, n := range []tracker.NewPR{
		{Branch: "a", Title: "ENG-12: in the title"},
		{Branch: "b", Title: "In the text", Body: "This is about eng-12."},
		{Branch: "task/eng-12-in-the-branch", Title: "In the branch"},
		{Branch: "c", Title: "ENG-1, XENG-12, ENG-123", Body: "and ENG-120"},
		{Branch: "d", Title: "Nothing"},
	} {
		y.Push(y.T, n.Branch)
		n.Base = y.Base()
		pr := y.create(n)
		switch n.Branch {
		case "a", "b", "task/eng-12-in-the-branch":
			want["ENG-12"] = append(want["ENG-12"], pr.Number)
		case "c":
			want["ENG-1"] = append(want["ENG-1"], pr.Number)
		}
	}
	for _, key := range []string{"ENG-12", "ENG-1", "ENG-9", "", ".*"} {
		list, err := y.forge.Mentioning(y.ctx(), key)
		if err != nil {
			y.Errorf("%q: %v", key, err)
		}
		got := numbers(list)
		if slices.Sort(got); !slices.Equal(got, want[key]) {
			y.Errorf("%q is mentioned by %v, want %v", key, got, want[key])
		}
	}
}

func mergedTwice(y *yard) {
	pr, head := y.opens("work/one")
	for range 3 {
		if err := y.forge.Merge(y.ctx(), pr.Number, head); err != nil {
			y.Fatal(err)
		}
		y.is(pr.Number, tracker.Merged)
	}
	if err := y.Open(y.T).Merge(y.ctx(), pr.Number, head); err != nil {
		y.Errorf("another client: %v", err)
	}
}

func lostMerge(y *yard) {
	y.needs(Lost)
	pr, head := y.opens("work/one")
	y.Fail(Fault{Kind: Lost, Times: 1, Writes: true})
	y.insist("merge", func() error { return y.forge.Merge(y.ctx(), pr.Number, head) })
	y.is(pr.Number, tracker.Merged)
}

func movedHead(y *yard) {
	pr, old := y.opens("work/one")
	head := y.Push(y.T, "work/one")
	for _, commit := range []string{old, strings.Repeat("0", 40), ""} {
		y.refuses("merge another commit", y.forge.Merge(y.ctx(), pr.Number, commit))
		y.is(pr.Number, tracker.Open)
	}
	if err := y.forge.Merge(y.ctx(), pr.Number, head); err != nil {
		y.Fatal(err)
	}
	y.is(pr.Number, tracker.Merged)
}

func mergedOther(y *yard) {
	pr, old := y.opens("work/one")
	head := y.Push(y.T, "work/one")
	if err := y.forge.Merge(y.ctx(), pr.Number, head); err != nil {
		y.Fatal(err)
	}
	y.refuses("merge what was not merged", y.forge.Merge(y.ctx(), pr.Number, old))
}

func closedNotMerged(y *yard) {
	pr, head := y.opens("work/one")
	y.Close(y.T, pr.Number)
	y.refuses("merge a closed one", y.forge.Merge(y.ctx(), pr.Number, head))
	y.is(pr.Number, tracker.Closed)
}

func noSuchPR(y *yard) {
	_, head := y.opens("work/one")
	for _, number := range []int{0, -1, 999999} {
		_, show := y.forge.PR(y.ctx(), number)
		merge := y.forge.Merge(y.ctx(), number, head)
		for what, err := range map[string]error{"show": show, "merge": merge} {
			if !errors.Is(err, tracker.ErrNotFound) {
				y.Errorf("%s %d: %v", what, number, err)
				continue
			}
			y.oneLine(err)
		}
	}
}

func hostileReview(y *yard) {
	pr, head := y.opens("work/one")
	for name, text := range hostile() {
		if name == "a zero" || name == "much" || name == "control characters" {
			continue // what a forge stores of these is its own business
		}
		y.Review(y.T, pr.Number, tracker.Review{Author: "bob", Verdict: tracker.Commented, Text: text})
		got := y.show(pr.Number).Reviews
		if len(got) == 0 || got[len(got)-1].Text != text {
			y.Errorf("%s: %+v, want %q", name, got[max(0, len(got)-1):], text)
		}
	}
	y.Check(y.T, head, tracker.Check{Name: "<b>bold</b> \"quoted\"", State: tracker.CheckPassed, Text: "$(id) `id` {{ x }}"})
	if got := y.checked(pr.Number); got["<b>bold</b> \"quoted\""] != tracker.CheckPassed {
		y.Errorf("checks: %v", got)
	}
}

// attempts are everything that can be asked of a forge.
func (y *yard) attempts(pr tracker.PR) map[string]func() error {
	return map[string]func() error{
		"show":     func() error { _, err := y.forge.PR(y.ctx(), pr.Number); return err },
		"list":     func() error { _, err := y.forge.PRs(y.ctx(), pr.Branch); return err },
		"mentions": func() error { _, err := y.forge.Mentioning(y.ctx(), "ENG-1"); return err },
		"open":     func() error { _, err := y.forge.CreatePR(y.ctx(), y.wish(pr.Branch)); return err },
		"merge":    func() error { return y.forge.Merge(y.ctx(), pr.Number, pr.Head) },
	}
}

func brokenForge(y *yard)  { y.failing(Broken) }
func limitedForge(y *yard) { y.failing(Limited) }

// failing does each thing while the forge fails, until it comes out right.
func (y *yard) failing(kind string) {
	y.needs(kind)
	pr, _ := y.opens("work/one")
	todo := y.attempts(pr)
	for _, what := range []string{"show", "list", "mentions", "open", "merge"} {
		y.Fail(Fault{Kind: kind, Times: 2})
		y.insist(what, todo[what])
		y.Fail(Fault{})
	}
	y.is(pr.Number, tracker.Merged)
	y.Push(y.T, "work/two")
	y.Fail(Fault{Kind: kind, Times: 2, Writes: true})
	y.insist("open another", func() error { _, err := y.forge.CreatePR(y.ctx(), y.wish("work/two")); return err })
	if got := y.listed("work/two"); len(got) != 1 {
		y.Errorf("there are %v, want one", got)
	}
}

func deniedForge(y *yard) {
	y.needs(Denied)
	pr, _ := y.opens("work/one")
	y.Fail(Fault{Kind: Denied, Times: 1000})
	for what, do := range y.attempts(pr) {
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
	y.Fail(Fault{})
	y.is(pr.Number, tracker.Open)
}
