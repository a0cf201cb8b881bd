package delivery

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/core/task"
)

// A branch that was moved to other work, in a way that looks like following its target, lands and is said to have.
func TestLandingABranchThatWasMovedToOtherWork(t *testing.T) {
	e := newEnv(t)
	e.project.Delivery, e.project.MergePR = task.DeliverLocal, ""
	base, head := e.git(e.root, "rev-parse", "feature~1"), e.git(e.root, "rev-parse", "feature")
	e.git(e.root, "switch", "-qc", "other", base)
	e.commit("other", "o\n")
	e.git(e.root, "switch", "-q", "main")
	e.git(e.root, "branch", "-f", "feature", "other")
	tk := task.Task{ID: someTask, Project: "shop", Branch: "feature"}
	tk.Work = &task.Work{Base: base, Head: head}
	done, err := e.service.Merge(t.Context(), tk, task.Effect{ID: "1"})
	if err != nil || done.Landed == "" || e.git(e.root, "rev-parse", "main") != done.Landed {
		t.Errorf("%+v, %v", done, err)
	}
}

// A branch that was moved to the tip of its target is in it, and none of its work is.
func TestLandingABranchThatHasLostItsCommits(t *testing.T) {
	for name, checks := range map[string]task.Checks{"in one step": nil, "with a check": {{Name: "unit", Run: "true"}}} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.project.Delivery, e.project.MergePR = task.DeliverLocal, ""
			base := e.git(e.root, "rev-parse", "feature~1")
			head := e.git(e.root, "rev-parse", "feature")
			e.commit("other", "o\n")
			e.git(e.root, "branch", "-f", "feature", "main")
			tk := task.Task{ID: someTask, Project: "shop", Branch: "feature"}
			tk.Checks, tk.Work = checks, &task.Work{Base: base, Head: head}
			done, err := e.service.Merge(t.Context(), tk, task.Effect{ID: "1"})
			if err == nil || !strings.Contains(err.Error(), "no longer has the commits that were handed over ("+head[:12]+")") || done.Landed != "" {
				t.Errorf("it lost its commits: %+v, %v", done, err)
			}
			tk.Work.Head = ""
			if done, err := e.service.Merge(t.Context(), tk, task.Effect{ID: "2"}); err != nil || done.Landed != "" {
				t.Errorf("it never had any: %+v, %v", done, err)
			}
			tk.Work.Head = head
			e.git(e.root, "merge", "-q", "--no-edit", head)
			if done, err := e.service.Merge(t.Context(), tk, task.Effect{ID: "3"}); err != nil || done.Landed == "" {
				t.Errorf("it was merged before: %+v, %v", done, err)
			}
		})
	}
}

// What became of an interrupted landing is in the result of the merge that comes upon it, and in the log.
func TestAMergeSaysWhatBecameOfAnInterruptedLanding(t *testing.T) {
	e := newEnv(t)
	e.project.Delivery, e.project.MergePR = task.DeliverLocal, ""
	old := e.git(e.root, "rev-parse", "main")
	e.commit("other", "o\n")
	record := fmt.Sprintf(`{"what":"earlier","target":"main","old":%q,"new":%q,"checkout":%q}`, old, e.git(e.root, "rev-parse", "main"), e.root)
	if err := os.WriteFile(filepath.Join(e.root, ".git", "orange-land.json"), []byte(record), 0o600); err != nil {
		t.Fatal(err)
	}
	e.git(e.root, "rm", "-q", "other")
	var log bytes.Buffer
	e.service.Log = slog.New(slog.NewTextHandler(&log, nil))
	done, err := e.service.Merge(t.Context(), task.Task{ID: someTask, Project: "shop", Branch: "feature"}, task.Effect{ID: "1", Arg: task.LandMerge})
	want := "the landing of earlier in main was interrupted and is complete; left as it is in " + e.root + ": other"
	if err != nil || done.Landed == "" || done.Note != want || !strings.Contains(log.String(), want) {
		t.Errorf("%+v, %v, want the note %q; the log has %s", done, err, want, &log)
	}
	if status := e.git(e.root, "status", "--porcelain"); status != "D  other" {
		t.Errorf("the checkout is %q", status)
	}
}

// A merge whose git was killed is tried again; only the engine's limit ends that.
func TestAMergeWhoseGitIsKilledIsNotGivenUp(t *testing.T) {
	e := newEnv(t)
	e.project.Delivery, e.project.MergePR = task.DeliverLocal, ""
	killed := filepath.Join(e.root, ".git", "killed")
	e.git(e.root, "config", "filter.kills.smudge", "cat; test -e "+killed+" || { touch "+killed+"; kill -9 $PPID; }")
	if err := os.WriteFile(filepath.Join(e.root, ".git", "info", "attributes"), []byte("feature filter=kills\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tk := task.Task{ID: someTask, Project: "shop", Branch: "feature"}
	done, err := e.service.Merge(t.Context(), tk, task.Effect{ID: "1"})
	var mistake *task.Mistake
	if err == nil || !strings.Contains(err.Error(), "git merge was ended by signal killed") || errors.As(err, &mistake) || done.Landing != "" {
		t.Fatalf("%+v, %v", done, err)
	}
	if done, err := e.service.Merge(t.Context(), tk, task.Effect{ID: "1"}); err != nil || done.Landed == "" || e.git(e.root, "status", "--porcelain") != "" {
		t.Errorf("%+v, %v", done, err)
	}
}

// A push whose answer was lost is found at the remote when it is repeated, and the work is not built again.
func TestAPushWhoseAnswerWasLost(t *testing.T) {
	for _, strategy := range []string{task.LandSquash, task.LandRebase, task.LandMerge} {
		t.Run(strategy, func(t *testing.T) {
			e := newEnv(t)
			e.project.Delivery, e.project.MergePR = task.DeliverPush, ""
			tk := task.Task{ID: someTask, Project: "shop", Branch: "feature", Setup: task.Setup{Delivery: task.DeliverPush, Checks: task.Checks{{Name: "unit", Run: "true"}}}}
			built, err := e.service.Merge(t.Context(), tk, task.Effect{ID: "1", Arg: strategy})
			if err != nil || built.Candidate == nil {
				t.Fatalf("%+v, %v", built, err)
			}
			tk.Landing = &task.Landing{Candidate: *built.Candidate, Checked: true}
			first, err := e.service.Merge(t.Context(), tk, task.Effect{ID: "1", Arg: strategy})
			if err != nil || first.Landed != built.Candidate.Commit {
				t.Fatalf("%+v, %v", first, err)
			}
			e.person("main", "feature", "a person changes it again\n")
			e.git(e.root, "pull", "-q", "origin", "main")
			theirs := e.at("main")
			again, err := e.service.Merge(t.Context(), tk, task.Effect{ID: "1", Arg: strategy})
			if err != nil || again.Landed != first.Landed || again.Candidate == nil || again.Note != "" {
				t.Errorf("%+v, %v", again, err)
			}
			if e.at("main") != theirs || e.git(e.root, "rev-parse", "main") != theirs {
				t.Error("main has moved")
			}
		})
	}
}

// The changes of a branch may have come into the target as other commits, for example squashed by a person. The commit that
// is recorded is the one that brought them, and not the one that somebody made upon it.
func TestLandingWhatThePersonSquashed(t *testing.T) {
	for name, tc := range map[string]struct{ strategy, delivery string }{
		"a squash here":          {task.LandSquash, "local"},
		"a squash at the remote": {task.LandSquash, "push"},
		"a rebase at the remote": {task.LandRebase, "push"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.project.Delivery, e.project.MergePR = task.Delivery(tc.delivery), ""
			e.commit("before", "b\n")
			e.git(e.root, "merge", "-q", "--squash", "feature")
			e.git(e.root, "commit", "-qm", "by hand")
			squash := e.git(e.root, "rev-parse", "main")
			e.commit("other", "o\n")
			tip := e.git(e.root, "rev-parse", "main")
			tk := task.Task{ID: someTask, Project: "shop", Branch: "feature", Setup: task.Setup{Delivery: e.project.Delivery}}
			built, err := e.service.Merge(t.Context(), tk, task.Effect{ID: "1", Arg: tc.strategy})
			if err != nil || built.Candidate == nil {
				t.Fatalf("%+v, %v", built, err)
			}
			tk.Landing = &task.Landing{Candidate: *built.Candidate, Checked: true}
			done, err := e.service.Merge(t.Context(), tk, task.Effect{ID: "1", Arg: tc.strategy})
			if err != nil || done.Landing != "" || done.Note != "" || done.Landed != squash || done.Candidate == nil || done.Candidate.Commit != squash || done.Candidate.Head != e.git(e.root, "rev-parse", "feature") {
				t.Errorf("%+v, %+v, %v; want %s", done, done.Candidate, err, squash)
			}
			if e.git(e.root, "rev-parse", "main") != tip || tc.delivery == "push" && e.at("main") != squash {
				t.Error("main is not where it belongs")
			}
		})
	}
}
