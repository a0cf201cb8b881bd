package gitea_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	sdk "code.gitea.io/sdk/gitea"

	"orange/internal/adapter/gitea"
	"orange/internal/core/board"
	"orange/internal/core/tracker"
	"orange/internal/trackertest"
)

func TestMerge(t *testing.T) {
	other := strings.Repeat("0", 40)
	for name, tc := range map[string]struct {
		arrange func(w *fake, p *sdk.PullRequest)
		head    string // "" for the one it has
		refusal string // why not, if it is one
		passing string // an error that another try may not meet
	}{
		"all is well":            {},
		"merged already":         {arrange: func(_ *fake, p *sdk.PullRequest) { p.HasMerged, p.State = true, sdk.StateClosed }},
		"merged at another head": {arrange: func(_ *fake, p *sdk.PullRequest) { p.HasMerged, p.State = true, sdk.StateClosed }, head: other, refusal: "was merged at"},
		"closed":                 {arrange: func(_ *fake, p *sdk.PullRequest) { p.State = sdk.StateClosed }, refusal: "is closed"},
		"another head":           {head: other, refusal: "has new commits"},
		"no head":                {head: " ", refusal: "give its head"},
		"a draft":                {arrange: func(_ *fake, p *sdk.PullRequest) { p.Draft, p.Mergeable = true, false }, refusal: "is a draft"},
		"it conflicts":           {arrange: func(_ *fake, p *sdk.PullRequest) { p.Mergeable = false }, refusal: "does not merge cleanly"},
		"it changed just now": {
			arrange: func(_ *fake, p *sdk.PullRequest) {
				at := began.Add(1000 * time.Hour)
				p.Mergeable, p.Updated = false, &at
			},
			passing: "has not yet checked",
		},
		"the forge finds out while it is looked at": {arrange: func(w *fake, p *sdk.PullRequest) {
			p.Mergeable = false
			w.before = func(*http.Request) { p.Mergeable = len(w.asked) > 2 }
		}},
		"the head moves in the last moment": {
			arrange: func(w *fake, _ *sdk.PullRequest) {
				w.before = onPost(func() { w.branches["work"] = sum("more") })
			},
			refusal: "has new commits",
		},
		"closed in the last moment": {
			arrange: func(w *fake, p *sdk.PullRequest) { w.before = onPost(func() { p.State = sdk.StateClosed }) },
			refusal: "is closed",
		},
		"merged by somebody else in the last moment": {arrange: func(w *fake, p *sdk.PullRequest) {
			w.before = onPost(func() { p.HasMerged, p.State = true, sdk.StateClosed })
		}},
		"the forge looks anew in the last moment": {arrange: func(w *fake, p *sdk.PullRequest) {
			anew, looks := false, 0
			w.before = func(r *http.Request) {
				switch {
				case r.Method == http.MethodPost && !anew:
					anew, p.Mergeable = true, false
				case anew && !p.Mergeable:
					looks++
					p.Mergeable = looks > 5
				}
			}
		}},
		"the base moved a moment ago": {arrange: func(w *fake, p *sdk.PullRequest) {
			looks := 0
			p.Mergeable = false
			w.before = func(*http.Request) { looks++; p.Mergeable = looks > 6 }
		}},
		"it changed just now, and the forge takes long": {arrange: func(w *fake, p *sdk.PullRequest) {
			at, looks := began.Add(1000*time.Hour), 0
			p.Mergeable, p.Updated = false, &at
			w.before = func(*http.Request) { looks++; p.Mergeable = looks > 11 }
		}},
		"only squashed":    {arrange: func(w *fake, _ *sdk.PullRequest) { w.style = sdk.MergeStyleSquash }},
		"an old forge":     {arrange: func(w *fake, _ *sdk.PullRequest) { w.version = "1.15.11" }, refusal: "1.16 or later"},
		"a Forgejo":        {arrange: func(w *fake, _ *sdk.PullRequest) { w.version = "11.0.1+gitea-1.22.0" }},
		"an unknown forge": {arrange: func(w *fake, _ *sdk.PullRequest) { w.version = "development" }},
		"a rule of the base": {
			arrange: answering(405, problem("not enough approvals")),
			refusal: "cannot be merged: not enough approvals",
		},
		"no permission": {
			arrange: answering(405, problem("User not allowed to merge PR")),
			refusal: "cannot be merged: User not allowed",
		},
		"a conflict that shows only now": {
			arrange: answering(409, map[string]string{"StdErr": "CONFLICT"}),
			refusal: "does not merge cleanly",
		},
		"the base moves in the last moment": {
			arrange: answering(409, problem("merge push out of date")),
			passing: "the base moved in the meantime",
		},
		"an archived repository": {arrange: answering(423, nil), refusal: "cannot be merged"},
		"the token may not":      {arrange: answering(403, problem("token does not have the scope")), passing: "write:repository"},
		"the answer is lost": {arrange: func(w *fake, _ *sdk.PullRequest) {
			w.fault = trackertest.Fault{Kind: trackertest.Lost, Times: 1, Writes: true}
		}},
		"the forge is broken": {
			arrange: func(w *fake, _ *sdk.PullRequest) {
				w.fault = trackertest.Fault{Kind: trackertest.Broken, Times: 1, Writes: true}
			},
			passing: "answers 500",
		},
		"the token is not good": {
			arrange: func(w *fake, _ *sdk.PullRequest) {
				w.fault = trackertest.Fault{Kind: trackertest.Denied, Times: 1, Writes: true}
			},
			passing: "does not accept the token",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFake(t)
			head := w.PushBranch(t, "work")
			p := w.add("Work", "", "work", "main")
			if tc.arrange != nil {
				tc.arrange(w, p)
			}
			was := p.HasMerged
			if tc.head != "" {
				head = tc.head
			}
			err := w.OpenClient(t).MergePR(t.Context(), 1, head)
			var no *board.Refusal
			switch {
			case tc.refusal != "":
				refused(t, err, tc.refusal)
			case tc.passing != "":
				if err == nil || errors.As(err, &no) || !strings.Contains(err.Error(), tc.passing) {
					t.Errorf("error: %v", err)
				}
			case err != nil:
				t.Error(err)
			}
			if wanted := tc.refusal == "" && tc.passing == "" || was; p.HasMerged != wanted {
				t.Errorf("merged: %v", p.HasMerged)
			}
		})
	}
}

// answering makes the forge refuse a merge.
func answering(status int, body any) func(*fake, *sdk.PullRequest) {
	return func(w *fake, _ *sdk.PullRequest) { w.refusal = func(rw http.ResponseWriter) { say(rw, status, body) } }
}

// onPost does something just before a write is made.
func onPost(do func()) func(*http.Request) {
	return func(r *http.Request) {
		if r.Method == http.MethodPost {
			do()
		}
	}
}

func TestMergeOfNone(t *testing.T) {
	f := newFake(t).OpenClient(t)
	for _, number := range []int{-1, 0, 5} {
		if err := f.MergePR(t.Context(), number, "abc"); !errors.Is(err, tracker.ErrNotFound) {
			t.Errorf("merge %d: %v", number, err)
		}
		if _, err := f.ReadPR(t.Context(), number); !errors.Is(err, tracker.ErrNotFound) {
			t.Errorf("show %d: %v", number, err)
		}
	}
}

func TestVersionIsAskedOnce(t *testing.T) {
	w := newFake(t)
	f := w.client(t, nil)
	for i, branch := range []string{"a", "b"} {
		head := w.PushBranch(t, branch)
		w.add("Work", "", branch, "main")
		if err := f.MergePR(t.Context(), i+1, head); err != nil {
			t.Fatal(err)
		}
	}
	if n := w.requests("GET /version"); n != 1 {
		t.Errorf("asked %d times", n)
	}
}

func TestAnswerThatIsLostOpensOne(t *testing.T) {
	w := newFake(t)
	w.PushBranch(t, "work")
	want := tracker.NewPR{Branch: "work", Base: "main", Title: "Work"}
	w.InjectFault(trackertest.Fault{Kind: trackertest.Lost, Times: 1, Writes: true})
	first, err := w.OpenClient(t).CreatePR(t.Context(), want)
	if err != nil {
		t.Fatal(err)
	}
	again, err := w.OpenClient(t).CreatePR(t.Context(), want)
	if err != nil || again.Number != first.Number || len(w.pulls) != 1 {
		t.Errorf("%d pull requests: %v", len(w.pulls), err)
	}
}

func TestTwoOpenConcurrently(t *testing.T) {
	for name, blind := range map[string]bool{"the forge refuses the second": false, "the forge opens both": true} {
		t.Run(name, func(t *testing.T) {
			w := newFake(t)
			w.blind = blind
			w.PushBranch(t, "work")
			w.before = onPost(func() {
				if len(w.pulls) == 0 {
					w.add("Somebody else's", "", "work", "main")
				}
			})
			pr, err := w.OpenClient(t).CreatePR(t.Context(), tracker.NewPR{Branch: "work", Base: "main", Title: "Work"})
			if err != nil || pr.Title != "Somebody else's" {
				t.Errorf("%+v %v", pr, err)
			}
			for _, p := range w.pulls[1:] {
				if p.State != sdk.StateClosed {
					t.Errorf("pull request %d is open as well", p.Index)
				}
			}
		})
	}
}

func TestOpenOneIntoTheWantedBaseIsMeant(t *testing.T) {
	w := newFake(t)
	w.PushBranch(t, "work")
	w.PushBranch(t, "next")
	w.add("Into main", "", "work", "main")
	w.add("Into next", "", "work", "next")
	f := w.client(t, func(o *gitea.ForgeOptions) { o.Now = nil })
	for base, want := range map[string]string{"main": "Into main", "next": "Into next", "other": "Into main"} {
		pr, err := f.CreatePR(t.Context(), tracker.NewPR{Branch: "work", Base: base, Title: "Work"})
		if err != nil || pr.Title != want {
			t.Errorf("into %s: %+v %v", base, pr, err)
		}
	}
}
