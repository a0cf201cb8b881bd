package trackers_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"orange/internal/core/engine"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/tracker"
	"orange/internal/core/workflow"
	"orange/internal/runtime/trackers"
)

// pull is the pull request of a task's branch.
func (r *env) pull(key string, more func(*tracker.PR)) {
	pr := tracker.PR{Number: 7, State: tracker.Open, Branch: r.of(key).Branch, Base: "main", Head: "c1"}
	if more != nil {
		more(&pr)
	}
	r.forge.put(pr)
}

// notes returns why a task was started, each time.
func (r *env) notes(key string) (out []string) {
	r.t.Helper()
	entries, err := r.store.Journal(r.of(key).ID, 0)
	check(r.t, err)
	for _, e := range entries {
		if e.To == "Started" && e.Actor == task.Tracker && e.Verb == "request-changes" {
			out = append(out, e.Note)
		}
	}
	return out
}

func TestAMergedPullRequestEndsTheTask(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		r.begun("ENG-1", "Delivered")
		r.passes("ENG-1")
		r.pull("ENG-1", nil)
		r.sync()
		if got := r.of("ENG-1"); got.PRURL != "https://forge.example/o/r/pull/7" || got.PRState != tracker.Open || got.Status != "Merging" {
			t.Fatalf("%s, %s %s", got.Status, got.PRURL, got.PRState)
		}
		r.pull("ENG-1", func(pr *tracker.PR) { pr.State = tracker.Merged })
		news := r.sync().News
		r.is("ENG-1", "Accepted", "Accepted")
		if !heard(news, "its pull request was merged") || r.fetched == 0 {
			t.Errorf("%q, fetched %d times", news, r.fetched)
		}
		if news := r.sync().News; len(news) > 0 {
			t.Errorf("heard again: %q", news)
		}
	})
}

func TestAClosedPullRequestCancelsOnlyWhatIsSafe(t *testing.T) {
	for name, safe := range map[string]bool{"nothing is lost": true, "something is": false} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, linear(), func(t *testing.T, r *env) {
				r.begun("ENG-1", "Finished")
				r.fact(workflow.NothingLost, safe, "its branch is ahead")
				r.pull("ENG-1", func(pr *tracker.PR) { pr.State = tracker.Closed })
				r.sync()
				if safe {
					r.is("ENG-1", "Canceled", "Canceled")
					return
				}
				r.is("ENG-1", "Finished", "Finished")
				if got := r.of("ENG-1").Attention; !strings.Contains(got, "because its branch is ahead") {
					t.Errorf("attention %q", got)
				}
				r.submit("ENG-1", signal.Signal{Kind: signal.Resume})
				r.sync()
				if got := r.of("ENG-1").Attention; got != "" {
					t.Errorf("told again: %q", got)
				}
			})
		})
	}
}

// Anybody can open a pull request that names an issue, and close it.
func TestSomebodyElsesPullRequestEndsNothing(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		r.begun("ENG-1", "Finished")
		r.fact(workflow.NothingLost, true, "")
		r.forge.put(tracker.PR{Number: 9, State: tracker.Open, Title: "mine for ENG-1", Branch: "mallory/x", Head: "c9", Checks: []tracker.Check{{Name: "ci", State: tracker.CheckFailed}}})
		r.sync()
		r.forge.put(tracker.PR{Number: 9, State: tracker.Closed, Title: "mine for ENG-1", Branch: "mallory/x", Head: "c9"})
		r.sync()
		r.is("ENG-1", "Finished", "Finished")
		if got := r.of("ENG-1"); got.Attention != "" {
			t.Errorf("%q", got.Attention)
		}
	})
}

func TestFailedChecksSendWorkBackOncePerCommit(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		r.begun("ENG-1", "Finished")
		checks := func(head string, list ...tracker.Check) {
			r.pull("ENG-1", func(pr *tracker.PR) { pr.Head, pr.Checks = head, list })
		}
		bad := tracker.Check{Name: "unit\ntests", State: tracker.CheckFailed, URL: "https://ci.example/1", Text: "2 failed"}
		checks("c1", bad, tracker.Check{Name: "lint", State: tracker.CheckPending})
		r.sync()
		r.is("ENG-1", "Finished", "Finished") // all of them are waited for
		checks("c1", bad, tracker.Check{Name: "lint", State: tracker.CheckPassed})
		if news := r.sync().News; !heard(news, "1 check failed") {
			t.Errorf("news: %q", news)
		}
		r.is("ENG-1", "Started", "Started")
		r.passes("ENG-1")
		for range 2 {
			r.sync()
		}
		r.is("ENG-1", "Finished", "Finished") // the same commit
		checks("c2", bad)
		r.sync()
		r.is("ENG-1", "Started", "Started")
		got := r.notes("ENG-1")
		if len(got) != 2 || got[0] != "Checks of https://forge.example/o/r/pull/7 failed at c1:\n\n- unit tests https://ci.example/1 2 failed" {
			t.Errorf("%q", got)
		}
	})
}

func TestReviewsSendWorkBackOnceEach(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		r.begun("ENG-1", "Finished")
		var list []tracker.Review
		review := func(id, author, verdict, text string, more ...tracker.Remark) {
			list = append(list, tracker.Review{ID: id, Author: author, Verdict: verdict, Text: text, Lines: more, Bot: strings.HasSuffix(author, "[bot]")})
			r.pull("ENG-1", func(pr *tracker.PR) { pr.Reviews = list })
		}
		review("1", "mallory", tracker.ChangesRequested, "delete everything")
		review("2", "alice", tracker.Commented, "nice")
		review("3", "alice", tracker.Approved, "")
		list = append(list, tracker.Review{ID: "4", Author: "alice", Bot: true, Verdict: tracker.ChangesRequested})
		if news := r.sync().News; heard(news, "review") {
			t.Errorf("nothing is wanted: %q", news)
		}
		r.is("ENG-1", "Finished", "Finished")
		review("5", "alice", tracker.ChangesRequested, "not so", tracker.Remark{File: "a\nb.go", Line: 3, Text: "why?"})
		review("6", "Alice", tracker.Commented, "", tracker.Remark{File: "c.go", Line: 9, Text: "hm"})
		if news := r.sync().News; !heard(news, "2 reviews request changes") {
			t.Errorf("news: %q", news)
		}
		r.is("ENG-1", "Started", "Started")
		r.passes("ENG-1")
		r.sync()
		r.is("ENG-1", "Finished", "Finished")
		got := r.notes("ENG-1")
		if len(got) != 1 || !strings.Contains(got[0], "alice reviewed https://forge.example/o/r/pull/7:\n\nnot so\n\n- a b.go:3: why?\n") || !strings.Contains(got[0], "- c.go:9: hm") || strings.Contains(got[0], "delete") {
			t.Errorf("%q", got)
		}
	})
}

func TestAReviewThatWasTakenBackSendsNothingBack(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		r.begun("ENG-1", "Started")
		r.pull("ENG-1", func(pr *tracker.PR) {
			pr.Reviews = []tracker.Review{{ID: "1", Author: "alice", Verdict: tracker.ChangesRequested, Text: "no"}, {ID: "2", Author: "Alice", Verdict: tracker.Approved}}
		})
		r.passes("ENG-1")
		r.sync()
		r.is("ENG-1", "Finished", "Finished")
	})
}

func TestALongReviewIsBounded(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		r.begun("ENG-1", "Finished")
		r.pull("ENG-1", func(pr *tracker.PR) {
			pr.Reviews = []tracker.Review{{ID: "1", Author: "alice", Verdict: tracker.ChangesRequested, Text: strings.Repeat("ä\xff", 1<<20)}}
		})
		r.sync()
		got := r.notes("ENG-1")
		if len(got) != 1 || len(got[0]) > 17<<10 || strings.ToValidUTF8(got[0], "?") != got[0] {
			t.Errorf("%d notes", len(got))
		}
	})
}

func TestAForgeThatIsAwayDoesNotHoldUpTheTracker(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		r.begun("ENG-1", "Finished")
		r.forge.err = errors.New("forge: 503\nService Unavailable")
		r.hub.say("ENG-1", "alice", "HOLD")
		news := r.sync().News
		if !heard(news, "the forge: forge: 503 Service Unavailable") || !r.of("ENG-1").Paused {
			t.Errorf("news: %q", news)
		}
		if list, err := r.service.List(); err != nil || list[0].Problem != "" {
			t.Errorf("%q, %v", list[0].Problem, err)
		}
	})
}

func TestPullRequestsOfTasksThatNobodyWatches(t *testing.T) {
	for name, tt := range map[string]struct {
		ref     string
		auto    bool
		watched bool
	}{
		"no tracker":                          {"", false, true},
		"a tracker that is looked at by hand": {"lin:ENG-1", false, true},
		"a tracker that is watched":           {"lin:ENG-1", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := linear()
			cfg.Auto = tt.auto
			inBubble(t, cfg, func(t *testing.T, r *env) {
				r.fact(workflow.NothingLost, true, "")
				a, err := r.tasks.Runtime.Create(t.Context(), signal.NewTask{Actor: task.Human, Workflow: "linear-sdlc", New: signal.New{
					Project: "p", Branch: "b", Summary: "s", TrackerRef: tt.ref, PRURL: "https://forge.example/o/r/pull/7", PRState: tracker.Open,
				}})
				check(t, err)
				r.forge.put(tracker.PR{Number: 7, State: tracker.Closed, Branch: "b", Head: "c1"})
				if _, err := r.service.SyncForges(t.Context()); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				got, _, err := r.store.Task(a.Task.ID)
				check(t, err)
				if (got.Status == "Canceled") != tt.watched {
					t.Errorf("%s", got.Status)
				}
			})
		})
	}
}

func TestAPullRequestOfAnotherRepositoryIsNotMeant(t *testing.T) {
	const elsewhere = "https://elsewhere.example/x/y/pull/7"
	for name, tt := range map[string]struct {
		put  func(r *env)
		want string // pr_url
	}{
		"the branch has none":              {func(*env) {}, elsewhere},
		"the number is another branch's":   {func(r *env) { r.forge.put(tracker.PR{Number: 7, State: tracker.Closed, Branch: "x", Head: "c1"}) }, elsewhere},
		"the number is the branch's own":   {func(r *env) { r.pull("ENG-1", nil) }, "https://forge.example/o/r/pull/7"},
		"the branch has one of its own":    {func(r *env) { r.pull("ENG-1", func(pr *tracker.PR) { pr.Number = 8 }) }, "https://forge.example/o/r/pull/8"},
		"one that only mentions the issue": {func(r *env) { r.forge.put(tracker.PR{Number: 9, State: tracker.Open, Title: "for ENG-1", Branch: "x"}) }, elsewhere},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, linear(), func(t *testing.T, r *env) {
				r.begun("ENG-1", "Finished")
				r.fact(workflow.NothingLost, true, "")
				r.submit("ENG-1", signal.Signal{Kind: signal.Update, Fields: []signal.Field{{Name: "pr_url", To: elsewhere}, {Name: "pr_state", To: tracker.Merged}}})
				tt.put(r)
				r.sync()
				r.is("ENG-1", "Finished", "Finished")
				if got := r.of("ENG-1"); got.PRURL != tt.want || got.PRState == tracker.Merged && tt.want != elsewhere {
					t.Errorf("its pull request is %s, %s", got.PRURL, got.PRState)
				}
			})
		})
	}
}

// A tracker may show one of another repository as merged.
func TestALinkedPullRequestDoesNotHideThatOfTheBranch(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		r.begun("ENG-1", "Delivered")
		r.hub.change("ENG-1", func(is *tracker.Issue) {
			is.PRs = []tracker.PR{{Number: 41, URL: "https://elsewhere.example/x/y/pull/41", State: tracker.Merged}}
		})
		r.sync()
		r.pull("ENG-1", nil)
		r.sync()
		if got := r.of("ENG-1"); got.PRURL != "https://forge.example/o/r/pull/7" || got.PRState != tracker.Open {
			t.Errorf("its pull request is %s, %s", got.PRURL, got.PRState)
		}
		r.passes("ENG-1")
		if got := r.of("ENG-1"); got.Status != "Merging" {
			t.Errorf("nothing is merged, and the task is %s", got.Status)
		}
	})
}

func TestAMentionDoesNotHideThePullRequestOfTheBranch(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		r.begun("ENG-1", "Delivered")
		r.passes("ENG-1")
		r.forge.put(tracker.PR{Number: 3, State: tracker.Merged, Title: "docs: prepare for ENG-1", Branch: "docs", Head: "d0"})
		r.fact(workflow.Merged, false, "")
		r.sync()
		r.pull("ENG-1", nil)
		r.sync()
		if got := r.of("ENG-1"); got.PRURL != "https://forge.example/o/r/pull/7" || got.Status != "Merging" {
			t.Errorf("%s, its pull request is %s, %s", got.Status, got.PRURL, got.PRState)
		}
	})
}

func TestAClosedPullRequestThatWasReplaced(t *testing.T) {
	for name, tt := range map[string]struct{ state, from, status string }{
		"by an open one":  {tracker.Open, "Finished", "Finished"},
		"by a merged one": {tracker.Merged, "Merging", "Accepted"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, linear(), func(t *testing.T, r *env) {
				r.begun("ENG-1", "Finished")
				r.fact(workflow.NothingLost, true, "")
				for r.of("ENG-1").Status != tt.from {
					r.passes("ENG-1")
				}
				r.pull("ENG-1", nil)
				r.sync()
				r.pull("ENG-1", func(pr *tracker.PR) { pr.State = tracker.Closed })
				r.pull("ENG-1", func(pr *tracker.PR) { pr.Number, pr.State = 8, tt.state })
				r.sync()
				if got := r.of("ENG-1"); got.Status != tt.status || got.PRURL != "https://forge.example/o/r/pull/8" || got.PRState != tt.state {
					t.Errorf("%s, its pull request is %s, %s", got.Status, got.PRURL, got.PRState)
				}
			})
		})
	}
}

func TestASecondCloseOfAPullRequestIsReported(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		r.begun("ENG-1", "Finished")
		r.fact(workflow.NothingLost, false, "its workspace has changes")
		state := func(s string) {
			r.pull("ENG-1", func(pr *tracker.PR) { pr.State = s })
			r.sync()
			r.sync()
		}
		for range 2 {
			state(tracker.Closed)
			if got := r.of("ENG-1"); got.Attention == "" {
				t.Fatal("it was closed, and nobody is told")
			}
			state(tracker.Open)
			r.submit("ENG-1", signal.Signal{Kind: signal.Resume})
		}
		r.fact(workflow.NothingLost, true, "")
		state(tracker.Closed)
		r.is("ENG-1", "Canceled", "Canceled")
	})
}

// deafRuntime lets nothing come of a merge.
type deafRuntime struct{ *recordingRuntime }

func (d deafRuntime) Submit(ctx context.Context, id task.ID, sig signal.Signal) (engine.Answer, error) {
	if sig.Word == signal.PRMerged {
		return engine.Answer{Decision: engine.Decision{Verdict: engine.Stay, Reasons: []engine.Reason{{Text: "it is not\nmerged here"}}}}, nil
	}
	return d.recordingRuntime.Submit(ctx, id, sig)
}

// What was merged may not be here yet, as when the network is away.
func TestAMergeWithoutAnEdgeIsReportedAgain(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		r.begun("ENG-1", "Delivered")
		r.passes("ENG-1")
		r.service.Tasks = deafRuntime{r.tasks}
		r.pull("ENG-1", func(pr *tracker.PR) { pr.State = tracker.Merged })
		news := r.sync().News
		if !heard(news, "its pull request was merged, and it stays Merging: it is not merged here") {
			t.Errorf("news: %q", news)
		}
		if news := r.sync().News; len(news) > 0 {
			t.Errorf("said again: %q", news)
		}
		r.is("ENG-1", "Merging", "Delivered")
		r.service.Tasks = r.tasks
		r.sync()
		r.is("ENG-1", "Accepted", "Accepted")
	})
}

// partialForge does not show some pull requests.
type partialForge struct {
	*fakeForge
	until int
}

func (m partialForge) ReadPR(ctx context.Context, n int) (tracker.PR, error) {
	if n < m.until {
		return tracker.PR{}, errors.New("forge: 502")
	}
	return m.fakeForge.ReadPR(ctx, n)
}

func TestOneFailingPullRequestDoesNotHideOthers(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		r.begun("ENG-1", "Finished")
		r.begun("ENG-2", "Delivered")
		r.passes("ENG-2")
		r.pull("ENG-1", nil)
		r.pull("ENG-2", func(pr *tracker.PR) { pr.Number, pr.State = 8, tracker.Merged })
		r.service.Forge = func(context.Context, task.Project) (trackers.Forge, error) { return partialForge{r.forge, 8}, nil }
		if news := r.sync().News; !heard(news, "the forge: forge: 502") {
			t.Errorf("news: %q", news)
		}
		r.is("ENG-2", "Accepted", "Accepted")
	})
}

func TestAForgeThatIsAwayIsNotAskedForEveryTask(t *testing.T) {
	cfg := linear()
	cfg.Max = 6
	inBubble(t, cfg, func(t *testing.T, r *env) {
		for _, key := range []string{"ENG-1", "ENG-2", "ENG-3", "ENG-4", "ENG-5"} {
			r.begun(key, "Started")
		}
		r.forge.err, r.forge.asked = errors.New("forge: 503"), 0
		r.sync()
		if r.forge.asked != 3 {
			t.Errorf("it was asked %d times", r.forge.asked)
		}
	})
}

// The pull request was not read since it was opened, linked or closed: a request for it reads its present state.
func TestThePullRequestOfThisMoment(t *testing.T) {
	gone := errors.New("the forge is away")
	for name, tt := range map[string]struct {
		put      func(r *env)
		delivery task.Delivery
		want     string
		state    string
		err      error
	}{
		"of the branch":               {put: func(r *env) { r.pull("ENG-1", nil) }, want: "https://forge.example/o/r/pull/7", state: tracker.Open},
		"linked with the issue":       {put: func(r *env) { r.link("https://forge.example/o/r/pull/41") }, want: "https://forge.example/o/r/pull/41", state: tracker.Open},
		"none":                        {put: func(*env) {}},
		"nobody can say":              {put: func(r *env) { r.forge.err = gone }, delivery: task.DeliverPR, err: gone},
		"nobody needs one":            {put: func(r *env) { r.forge.err = gone }},
		"known, and nobody can say":   {put: func(r *env) { r.link("https://forge.example/o/r/pull/41"); r.forge.err = gone }, delivery: task.DeliverPR, want: "https://forge.example/o/r/pull/41", state: tracker.Open},
		"one of another's repository": {put: func(r *env) { r.link("https://elsewhere.example/x/y/pull/7"); r.pull("ENG-1", nil) }, want: "https://forge.example/o/r/pull/7", state: tracker.Open},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, linear(), func(t *testing.T, r *env) {
				r.begun("ENG-1", "Finished")
				tt.put(r)
				now := r.of("ENG-1")
				now.Delivery = tt.delivery
				url, state, err := r.service.PullRequest(t.Context(), now)
				if url != tt.want || state != tt.state || !errors.Is(err, tt.err) {
					t.Errorf("%s, %s, %v", url, state, err)
				}
				if got := r.of("ENG-1"); got.PRURL != tt.want || got.Status != "Finished" {
					t.Errorf("the task has %s in %s", got.PRURL, got.Status)
				}
			})
		})
	}
}

// link links a pull request with the issue ENG-1.
func (r *env) link(url string) {
	r.hub.change("ENG-1", func(is *tracker.Issue) { is.PRs = []tracker.PR{{Number: 41, URL: url, State: tracker.Open}} })
}

// A pull request that only waits to be merged is recorded at its head, until that is no longer true.
func TestAPullRequestThatIsGreenAndApproved(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		r.begun("ENG-1", "Finished")
		passed, approved := tracker.Check{Name: "build", State: tracker.CheckPassed}, tracker.Review{ID: "1", Author: "ann", Verdict: tracker.Approved}
		for _, tt := range []struct {
			name    string
			head    string
			checks  []tracker.Check
			reviews []tracker.Review
			want    string
		}{
			{"nothing is known", "c1", nil, nil, ""},
			{"nobody approves it", "c1", []tracker.Check{passed}, nil, ""},
			{"a required check is missing", "c1", []tracker.Check{{Name: "lint", State: tracker.CheckPassed}}, []tracker.Review{approved}, ""},
			{"only what nobody requires is pending", "c1", []tracker.Check{passed, {Name: "lint", State: tracker.CheckPending}}, []tracker.Review{approved}, "c1"},
			{"it has a new head", "c2", nil, []tracker.Review{approved}, ""},
			{"it is ready again", "c2", []tracker.Check{passed}, []tracker.Review{approved}, "c2"},
			{"somebody is against it", "c2", []tracker.Check{passed}, []tracker.Review{approved, {ID: "2", Author: "eve", Verdict: tracker.ChangesRequested}}, ""},
		} {
			r.pull("ENG-1", func(pr *tracker.PR) { pr.Head, pr.Checks, pr.Reviews = tt.head, tt.checks, tt.reviews })
			news := r.sync().News
			if got := r.of("ENG-1").PRReady; got != tt.want {
				t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
			}
			if heard(news, "is green and approved") != (tt.want != "") {
				t.Errorf("%s: %q", tt.name, news)
			}
		}
	})
}
