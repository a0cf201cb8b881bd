package github_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"orange/internal/adapter/github"
	"orange/internal/core/board"
	"orange/internal/core/tracker"
	"orange/internal/trackertest/fakegithub"
)

func TestMentionsOfNumbers(t *testing.T) {
	s := serve(t, fakegithub.FakeOptions{})
	var want []int
	for _, tc := range []struct {
		branch, title, body string
		names               bool
	}{
		{"a", "See #42", "", true},
		{"b", "T", "text\nGH-42.", true},
		{"c", "T", "https://github.com/acme/shop/issues/42 and so on", true},
		{"d", "T", "acme/shop#42", true},
		{"issue/42-thing", "T", "", true},
		{"42", "T", "", true},
		{"e", "42 things", "the 42nd", false},
		{"f", "#421 and #142", "other/repo#42", false},
		{"g", "T", "https://github.com/other/shop/issues/42", false},
		{"release-1.42", "T", "", false},
	} {
		if n := s.AddPull(t, tc.branch, tc.title, tc.body); tc.names {
			want = append(want, n)
		}
	}
	for _, key := range []string{"42", "#42"} {
		list, err := forge(t, s).ListMentioningPRs(t.Context(), key)
		var got []int
		for _, pr := range list {
			got = append(got, pr.Number)
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v, want %v", key, got, err, want)
		}
	}
}

func TestAMergeWaitsUntilGitHubKnowsWhetherItIsClean(t *testing.T) {
	for name, tc := range map[string]struct {
		looks  int
		merged bool
	}{"known": {0, true}, "known after some looks": {4, true}, "not known": {1000, false}} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, fakegithub.FakeOptions{})
			number := s.AddPull(t, "x", "T", "")
			f := forge(t, s).(*github.Forge)
			github.Hasten(f)
			pr, err := f.ReadPR(t.Context(), number)
			if err != nil {
				t.Fatal(err)
			}
			s.DelayMergeable(tc.looks)
			err = f.MergePR(t.Context(), number, pr.Head)
			var no *board.Refusal
			if errors.As(err, &no) || (err == nil) != tc.merged {
				t.Errorf("merge: %v", err)
			}
		})
	}
}

func TestADismissedReviewDecidesNothing(t *testing.T) {
	s := serve(t, fakegithub.FakeOptions{})
	number := s.AddPull(t, "x", "T", "")
	s.AddReview(t, number, tracker.Review{Author: "bob", Verdict: tracker.ChangesRequested, Text: "No."})
	s.DismissReview(t, number)
	got, err := forge(t, s).ReadPR(t.Context(), number)
	if err != nil || len(got.Reviews) != 1 || got.Reviews[0].Verdict != tracker.Commented {
		t.Errorf("%+v, %v", got.Reviews, err)
	}
}

func TestWhyAPullRequestIsNotOpened(t *testing.T) {
	s := serve(t, fakegithub.FakeOptions{})
	s.PushBranch(t, "work")
	for name, tc := range map[string]struct {
		n    tracker.NewPR
		want string
	}{
		"no such branch":  {tracker.NewPR{Branch: "nowhere", Base: "main", Title: "T"}, "head is invalid"},
		"no such base":    {tracker.NewPR{Branch: "work", Base: "nowhere", Title: "T"}, "base is invalid"},
		"nothing changed": {tracker.NewPR{Branch: "main", Base: "main", Title: "T"}, "No commits between"},
		"no title":        {tracker.NewPR{Branch: "work", Base: "main"}, "title is missing_field"},
		"of a fork":       {tracker.NewPR{Branch: "other:work", Base: "main", Title: "T"}, "names of two branches"},
	} {
		_, err := forge(t, s).CreatePR(t.Context(), tc.n)
		var no *board.Refusal
		if !errors.As(err, &no) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
}
