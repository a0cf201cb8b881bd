//go:build forge

package forge_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	sdk "code.gitea.io/sdk/gitea"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"orange/internal/adapter/gitea"
	"orange/internal/core/tracker"
	"orange/internal/runtime/trackers"
	"orange/internal/trackertest"
	"orange/internal/wait"
)

// reviewer is the second person.
const reviewer = "alice"

func TestGitea(t *testing.T) {
	s := start(t)
	for name, test := range map[string]func(*testing.T, *world){
		"a pull request from its first push to the merge": wholeLife,
		"every state of a check":                          checkStates,
		"what people say in reviews":                      reviews,
		"an issue that is a number":                       numbers,
		"an issue that is read":                           readIssue,
		"an issue that is run":                            runIssue,
		"a branch that conflicts":                         conflict,
		"a draft":                                         draft,
		"a head that moved":                               movedHead,
		"a branch that is gone after the merge":           goneBranch,
		"a fork's branch of the same name":                fork,
		"a repository that only squashes":                 squashOnly,
		"a protected base":                                protected,
		"required checks of a branch that is behind":      requiredBehind,
		"a branch that was never pushed":                  neverPushed,
		"a token that is not good":                        badToken,
		"tokens that may do less":                         scopes,
		"a server that fails":                             failing,
		"clients that open the same at once":              atOnce,
		"many tasks that land":                            landMany,
	} {
		t.Run(name, func(t *testing.T) { test(t, s.open(t, strings.NewReplacer(" ", "-", "'", "").Replace(name))) })
	}
}

func TestForge(t *testing.T) {
	s, n := start(t), 0
	trackertest.RunForge(t, func(t *testing.T) trackertest.ForgeWorld {
		n++
		return s.open(t, fmt.Sprint("world-", n))
	})
}

func wholeLife(t *testing.T, w *world) {
	ctx := t.Context()
	f := w.OpenClient(t)
	head := w.PushBranch(t, "task/ENG-7-hello")
	pr, err := f.CreatePR(ctx, tracker.NewPR{Branch: "task/ENG-7-hello", Base: "main", Title: "Say hello", Body: "It does."})
	must(t, err)
	again, err := w.OpenClient(t).CreatePR(ctx, tracker.NewPR{Branch: "task/ENG-7-hello", Base: "main", Title: "Another", Body: ""})
	must(t, err)
	want := tracker.PR{
		Number: pr.Number, State: tracker.Open, Title: "Say hello", Author: chief, Branch: "task/ENG-7-hello", Base: "main", Head: head,
		URL: fmt.Sprintf("%s/%s/%s/pulls/%d", w.proxy, chief, w.repo, pr.Number),
	}
	brief := cmpopts.IgnoreFields(tracker.PR{}, "CreatedAt", "Mergeable", "URL")
	if diff := cmp.Diff([]tracker.PR{want, want}, []tracker.PR{pr, again}, brief); diff != "" {
		t.Errorf("created and created again: %s", diff)
	}
	if !strings.HasSuffix(pr.URL, fmt.Sprintf("/%s/%s/pulls/%d", chief, w.repo, pr.Number)) {
		t.Errorf("address %q", pr.URL)
	}

	w.AddCheck(t, head, tracker.Check{Name: "build", State: tracker.CheckPending})
	w.AddCheck(t, head, tracker.Check{Name: "build", State: tracker.CheckPassed, URL: "https://ci.example.invalid/1", Text: "fine"})
	w.AddReview(t, pr.Number, tracker.Review{Author: reviewer, Verdict: tracker.Approved, Text: "good", Commit: head})
	whole, err := f.ReadPR(ctx, pr.Number)
	must(t, err)
	want.Mergeable = "yes"
	want.Checks = []tracker.Check{{Name: "build", State: tracker.CheckPassed, URL: "https://ci.example.invalid/1", Text: "fine"}}
	want.Reviews = []tracker.Review{{Author: reviewer, Verdict: tracker.Approved, Text: "good", Commit: head}}
	loose := cmpopts.IgnoreFields(tracker.Review{}, "ID", "At")
	if diff := cmp.Diff(want, whole, loose, cmpopts.IgnoreFields(tracker.PR{}, "CreatedAt", "URL")); diff != "" {
		t.Errorf("shown: %s", diff)
	}

	w.merge(t, pr.Number, head)
	must(t, f.MergePR(ctx, pr.Number, head)) // repeating it is not an error
	w.git(t, "fetch", "--quiet", "origin")
	w.git(t, "merge-base", "--is-ancestor", head, "origin/main")
	merged, err := f.ListBranchPRs(ctx, "task/ENG-7-hello")
	must(t, err)
	if len(merged) != 1 || merged[0].State != tracker.Merged || merged[0].Head != head {
		t.Errorf("after the merge: %+v", merged)
	}
	refused(t, f.MergePR(ctx, pr.Number, strings.Repeat("0", 40)), "was merged at")
	if strings.Contains(w.git(t, "config", "--local", "--list"), w.token) {
		t.Error("the token is in the clone")
	}
}

func checkStates(t *testing.T, w *world) {
	head := w.PushBranch(t, "work")
	pr := w.pull(t, "work", "Work")
	states := map[sdk.StatusState]string{
		sdk.StatusPending: tracker.CheckPending, sdk.StatusSuccess: tracker.CheckPassed, sdk.StatusFailure: tracker.CheckFailed,
		sdk.StatusError: tracker.CheckFailed, sdk.StatusWarning: tracker.CheckPassed,
	}
	var want []tracker.Check
	for state, is := range states {
		w.status(t, head, sdk.CreateStatusOption{State: state, Context: string(state)})
		want = append(want, tracker.Check{Name: string(state), State: is})
	}
	slices.SortFunc(want, func(a, b tracker.Check) int { return strings.Compare(a.Name, b.Name) })
	whole, err := w.OpenClient(t).ReadPR(t.Context(), pr.Number)
	must(t, err)
	if diff := cmp.Diff(want, whole.Checks); diff != "" {
		t.Error(diff)
	}
}

func reviews(t *testing.T, w *world) {
	head := w.commit(t, "work", "shop.go", "one\ntwo\nthree\n")
	pr := w.pull(t, "work", "Work")
	said := []tracker.Review{
		{Author: reviewer, Verdict: tracker.Commented, Text: "hm", Commit: head},
		{Author: reviewer, Verdict: tracker.ChangesRequested, Text: "see below", Commit: head, Lines: []tracker.Remark{
			{File: "shop.go", Line: 2, Text: "why?"}, {File: "shop.go", Line: 3, Text: "no"},
		}},
		{Author: "bob", Verdict: tracker.Approved, Commit: head},
	}
	for _, r := range said {
		w.AddReview(t, pr.Number, r)
	}
	// A requested review is not a review.
	w.person(t, "carol")
	_, err := w.as(t, chief).CreateReviewRequests(chief, w.repo, int64(pr.Number), sdk.PullReviewRequestOptions{Reviewers: []string{"carol"}})
	must(t, err)
	whole, err := w.OpenClient(t).ReadPR(t.Context(), pr.Number)
	must(t, err)
	if diff := cmp.Diff(said, whole.Reviews, cmpopts.IgnoreFields(tracker.Review{}, "ID", "At")); diff != "" {
		t.Error(diff)
	}
	_, err = w.as(t, chief).DismissPullReview(chief, w.repo, int64(pr.Number), number(t, whole.Reviews[1].ID), sdk.DismissPullReviewOptions{Message: "settled"})
	must(t, err)
	whole, err = w.OpenClient(t).ReadPR(t.Context(), pr.Number)
	must(t, err)
	if got := whole.Reviews[1].Verdict; got != tracker.Commented {
		t.Errorf("a review that was dismissed still says %s", got)
	}
}

func numbers(t *testing.T, w *world) {
	f := w.OpenClient(t)
	for branch, text := range map[string]string{"a": "closes #12.", "b": "12 reasons", "c": "#123", "task/12-fix": ""} {
		w.PushBranch(t, branch)
		_, err := f.CreatePR(t.Context(), tracker.NewPR{Branch: branch, Base: "main", Title: "Work", Body: text})
		must(t, err)
	}
	found, err := f.ListMentioningPRs(t.Context(), "12")
	must(t, err)
	var got []string
	for _, pr := range found {
		got = append(got, pr.Branch)
	}
	slices.Sort(got)
	if diff := cmp.Diff([]string{"a", "task/12-fix"}, got); diff != "" {
		t.Error(diff)
	}
}

// readIssue reads what orange run --issue needs: title, text and author, and neither a pull request of another number nor
// the issue of another repository.
func readIssue(t *testing.T, w *world) {
	w.person(t, reviewer)
	is, _, err := w.as(t, reviewer).CreateIssue(chief, w.repo, sdk.CreateIssueOption{Title: "Log in", Body: "Do it well.\n\n## Plan\n\nnone\n"})
	must(t, err)
	f, ok := w.OpenClient(t).(trackers.IssueReader)
	if !ok {
		t.Fatal("this forge reads no issues")
	}
	at, ok := tracker.ParseIssueAddress(is.HTMLURL)
	if !ok || at.Key != fmt.Sprint(is.Index) || !f.HasRepository(at.Host, at.Scope) || f.HasRepository(at.Host, chief+"/other") {
		t.Fatalf("%s is read as %+v", is.HTMLURL, at)
	}
	got, err := f.ReadIssue(t.Context(), at.Key)
	must(t, err)
	if got.Card.Title != "Log in" || !strings.Contains(got.Card.Description, "Do it well.") || got.Card.Author != reviewer || got.URL == "" {
		t.Errorf("%+v", got)
	}
	if _, err := f.ReadIssue(t.Context(), "99"); !errors.Is(err, tracker.ErrNotFound) {
		t.Errorf("an issue that does not exist: %v", err)
	}
}

func conflict(t *testing.T, w *world) {
	head := w.commit(t, "work", "README.md", "ours\n")
	pr := w.pull(t, "work", "Work")
	w.commit(t, "main", "README.md", "theirs\n")
	f := w.later(t)
	until(t, "the conflict is seen", func() bool {
		whole, err := f.ReadPR(t.Context(), pr.Number)
		must(t, err)
		return whole.Mergeable == "no"
	})
	refused(t, f.MergePR(t.Context(), pr.Number, head), "does not merge cleanly")
	w.unmerged(t, pr.Number, head)
}

func draft(t *testing.T, w *world) {
	head := w.PushBranch(t, "work")
	pr := w.pull(t, "work", "WIP: not yet")
	refused(t, w.OpenClient(t).MergePR(t.Context(), pr.Number, head), "is a draft")
	w.unmerged(t, pr.Number, head)
}

func movedHead(t *testing.T, w *world) {
	was := w.PushBranch(t, "work")
	pr := w.pull(t, "work", "Work")
	head := w.PushBranch(t, "work")
	refused(t, w.OpenClient(t).MergePR(t.Context(), pr.Number, was), "has new commits")
	w.unmerged(t, pr.Number, was)
	w.merge(t, pr.Number, head)
}

func goneBranch(t *testing.T, w *world) {
	head := w.PushBranch(t, "work")
	pr := w.pull(t, "work", "Work")
	w.merge(t, pr.Number, head)
	w.git(t, "push", "--quiet", "origin", "--delete", "work")
	prs, err := w.OpenClient(t).ListBranchPRs(t.Context(), "work")
	must(t, err)
	if len(prs) != 1 || prs[0].Head != head || prs[0].State != tracker.Merged {
		t.Errorf("after the branch was deleted: %+v", prs)
	}
	w.merge(t, pr.Number, head)
}

func fork(t *testing.T, w *world) {
	w.person(t, reviewer)
	theirs := w.as(t, reviewer)
	_, _, err := theirs.CreateFork(chief, w.repo, sdk.CreateForkOption{})
	must(t, err)
	_, _, err = theirs.CreateFile(reviewer, w.repo, "theirs.txt", sdk.CreateFileOptions{
		FileOptions: sdk.FileOptions{Message: "theirs", BranchName: "main", NewBranchName: "work"}, Content: "dGhlaXJz",
	})
	must(t, err)
	_, _, err = theirs.CreatePullRequest(chief, w.repo, sdk.CreatePullRequestOption{Head: reviewer + ":work", Base: "main", Title: "Theirs ENG-5"})
	must(t, err)
	f := w.OpenClient(t)
	prs, err := f.ListBranchPRs(t.Context(), "work")
	must(t, err)
	if len(prs) != 0 {
		t.Errorf("the branch of a fork was taken for ours: %+v", prs)
	}
	w.PushBranch(t, "work")
	pr := w.pull(t, "work", "Ours")
	if pr.Title != "Ours" {
		t.Errorf("the pull request of a fork was taken for ours: %+v", pr)
	}
	named, err := f.ListMentioningPRs(t.Context(), "ENG-5")
	must(t, err)
	if len(named) != 1 || named[0].Branch != reviewer+":work" {
		t.Errorf("mentioned by a fork: %+v", named)
	}
}

func squashOnly(t *testing.T, w *world) {
	no, yes, style := false, true, sdk.MergeStyleSquash
	_, _, err := w.as(t, chief).EditRepo(chief, w.repo, sdk.EditRepoOption{
		HasPullRequests: &yes, AllowMerge: &no, AllowRebase: &no, AllowRebaseMerge: &no, AllowSquash: &yes, DefaultMergeStyle: &style,
	})
	must(t, err)
	head := w.PushBranch(t, "work")
	pr := w.pull(t, "work", "Work")
	w.merge(t, pr.Number, head)
	w.git(t, "fetch", "--quiet", "origin")
	w.git(t, "diff", "--quiet", head, "origin/main")
}

func protected(t *testing.T, w *world) {
	_, _, err := w.as(t, chief).CreateBranchProtection(chief, w.repo, sdk.CreateBranchProtectionOption{RuleName: "main", RequiredApprovals: 1, BlockAdminMergeOverride: true})
	must(t, err)
	head := w.PushBranch(t, "work")
	pr := w.pull(t, "work", "Work")
	refused(t, w.OpenClient(t).MergePR(t.Context(), pr.Number, head), "cannot be merged: ")
	w.unmerged(t, pr.Number, head)
	w.AddReview(t, pr.Number, tracker.Review{Author: reviewer, Verdict: tracker.Approved, Commit: head})
	w.merge(t, pr.Number, head)
}

// The forge's own update brings a branch up to date, and what it requires is required again at the new head.
func requiredBehind(t *testing.T, w *world) {
	ctx, f := t.Context(), w.OpenClient(t)
	head := w.PushBranch(t, "work")
	pr := w.pull(t, "work", "Work")
	w.PushBranch(t, "main")
	w.RequireChecks(t, "build", "ci/*")
	passes := func(commit string) {
		for _, name := range []string{"build", "ci/linux", "ci/mac"} {
			w.AddCheck(t, commit, tracker.Check{Name: name, State: tracker.CheckPassed})
		}
		w.AddCheck(t, commit, tracker.Check{Name: "nightly", State: tracker.CheckFailed}) // nobody requires it
	}
	passes(head)
	must(t, f.UpdatePR(ctx, pr.Number, head))
	updated := ""
	wait.Until(t, "the forge has merged the base", func() bool {
		now, err := f.ReadPR(ctx, pr.Number)
		must(t, err)
		updated = now.Head
		return updated != head
	})
	w.git(t, "fetch", "--quiet", "origin")
	w.git(t, "merge-base", "--is-ancestor", head, updated)
	w.git(t, "merge-base", "--is-ancestor", "origin/main", updated)
	required, err := f.RequiredChecks(ctx, "main")
	must(t, err)
	now, err := f.ReadPR(ctx, pr.Number)
	must(t, err)
	if missing := tracker.ChecksIn(tracker.RequiredChecks(now.Checks, required), tracker.CheckPending); !slices.Equal(missing, []string{"build", "ci/*"}) {
		t.Errorf("at the new head %v are missing", missing)
	}
	refused(t, f.MergePR(ctx, pr.Number, updated), "cannot be merged: ")
	w.unmerged(t, pr.Number, updated)
	passes(updated)
	w.merge(t, pr.Number, updated)
}

func neverPushed(t *testing.T, w *world) {
	f := w.OpenClient(t)
	_, err := f.CreatePR(t.Context(), tracker.NewPR{Branch: "nowhere", Base: "main", Title: "Nothing"})
	refused(t, err, "push them first")
	w.git(t, "push", "--quiet", "origin", "main:refs/heads/same")
	if _, err = f.CreatePR(t.Context(), tracker.NewPR{Branch: "same", Base: "main", Title: "Nothing"}); err != nil {
		refused(t, err, "no pull request from")
	}
	for _, number := range []int{-1, 0, 999} {
		if _, err := f.ReadPR(t.Context(), number); !errors.Is(err, tracker.ErrNotFound) {
			t.Errorf("pull request %d: %v", number, err)
		}
	}
	if err := f.MergePR(t.Context(), 999, "abc"); !errors.Is(err, tracker.ErrNotFound) {
		t.Errorf("merge of none: %v", err)
	}
}

func badToken(t *testing.T, w *world) {
	const wrong = "0123456789abcdef0123456789abcdef01234567"
	f, err := gitea.New(gitea.ForgeOptions{URL: w.url, Scope: chief + "/" + w.repo, Token: func(context.Context) (string, error) { return wrong, nil }})
	must(t, err)
	_, err = f.ListBranchPRs(t.Context(), "main")
	if err == nil || strings.Contains(err.Error(), wrong) || !strings.Contains(err.Error(), "does not accept the token") {
		t.Errorf("error: %v", err)
	}
}

// scopes checks which scopes a token needs, and what happens without them.
func scopes(t *testing.T, w *world) {
	head := w.PushBranch(t, "work")
	want := tracker.NewPR{Branch: "work", Base: "main", Title: "Work"}
	w.token = w.admin(t, "user", "generate-access-token", "--username", chief, "--token-name", "reader", "--scopes", "read:repository", "--raw")
	_, err := w.OpenClient(t).CreatePR(t.Context(), want)
	if err == nil || !strings.Contains(err.Error(), "write:repository") || strings.Contains(err.Error(), w.token) {
		t.Errorf("error: %v", err)
	}
	w.token = w.admin(t, "user", "generate-access-token", "--username", chief, "--token-name", "writer", "--scopes", "write:repository", "--raw")
	f := w.OpenClient(t)
	pr, err := f.CreatePR(t.Context(), want)
	must(t, err)
	_, err = f.ReadPR(t.Context(), pr.Number)
	must(t, err)
	w.merge(t, pr.Number, head)
}

func failing(t *testing.T, w *world) {
	head := w.PushBranch(t, "work")
	f := w.withRetries(t)
	want := tracker.NewPR{Branch: "work", Base: "main", Title: "Work"}
	w.InjectFault(trackertest.Fault{Kind: trackertest.Limited, Times: 1})
	_, err := f.ListBranchPRs(t.Context(), "work")
	must(t, err)
	w.InjectFault(trackertest.Fault{Kind: trackertest.Lost, Times: 1, Writes: true})
	pr, err := f.CreatePR(t.Context(), want)
	must(t, err)
	w.InjectFault(trackertest.Fault{Kind: trackertest.Broken, Times: 1, Writes: true})
	if err := f.MergePR(t.Context(), pr.Number, head); err == nil {
		t.Error("a merge that failed is no error")
	}
	w.unmerged(t, pr.Number, head)
	w.InjectFault(trackertest.Fault{Kind: trackertest.Lost, Times: 1, Writes: true})
	must(t, f.MergePR(t.Context(), pr.Number, head))
	prs, err := f.ListBranchPRs(t.Context(), "work")
	must(t, err)
	if len(prs) != 1 {
		t.Errorf("a lost answer left %d pull requests", len(prs))
	}
}

// atOnce opens pull requests concurrently: Gitea opens one for each request.
func atOnce(t *testing.T, w *world) {
	w.PushBranch(t, "work")
	found := make([]int, 3)
	var wait sync.WaitGroup
	for i := range found {
		f := w.OpenClient(t)
		wait.Go(func() {
			pr, err := f.CreatePR(t.Context(), tracker.NewPR{Branch: "work", Base: "main", Title: "Work"})
			if err != nil {
				t.Error(err)
			}
			found[i] = pr.Number
		})
	}
	wait.Wait()
	prs, err := w.OpenClient(t).ListBranchPRs(t.Context(), "work")
	must(t, err)
	var open []int
	for _, pr := range prs {
		if pr.State == tracker.Open {
			open = append(open, pr.Number)
		}
	}
	if len(open) != 1 || !slices.Equal(found, []int{open[0], open[0], open[0]}) {
		t.Errorf("open are %v, and clients have %v", open, found)
	}
}
