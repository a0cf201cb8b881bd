package trackertest

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"orange/internal/core/board"
	"orange/internal/core/tracker"
	"orange/internal/runtime/trackers"
)

// What a forge's world may be unable to do, besides failing.
const (
	Lines = "lines" // a review can have comments on lines
	Names = "names" // a review has the author of the draft
)

// RunForge tests everything that a forge must be able to do, each story with a new world.
func RunForge(t *testing.T, open func(t *testing.T) ForgeWorld) {
	for name, run := range forgeStories() {
		t.Run(name, func(t *testing.T) {
			w := open(t)
			run(&forgeEnv{T: t, ForgeWorld: w, forge: w.OpenClient(t)})
		})
	}
}

func forgeStories() map[string]func(*forgeEnv) {
	return map[string]func(*forgeEnv){
		"a pull request is opened and shown":                          openedPull,
		"one that is open is found again":                             foundAgain,
		"one that is closed is not taken for an open one":             closedThenOpened,
		"a branch that is not there has no pull request":              noBranch,
		"clients that open the same at once open one":                 openedAtOnce,
		"the answer to opening is lost, and there is one":             lostOpening,
		"checks are those of the head":                                checksOfHead,
		"the latest of a check counts":                                latestCheck,
		"many checks are all read":                                    manyChecks,
		"the required checks of a branch are known":                   requiredChecks,
		"a branch is brought up to date by the forge":                 broughtUpToDate,
		"reviews are read in order":                                   reviewsInOrder,
		"remarks on lines are read":                                   lineRemarks,
		"many reviews are all read":                                   manyReviews,
		"the pull requests of a branch are listed in any state":       ofBranch,
		"many pull requests of a branch are all listed":               manyOfBranch,
		"a mention of an issue is found in title, text and branch":    mentionedPulls,
		"a pull request is merged, and again":                         mergedTwice,
		"the answer to merging is lost, and it is merged":             lostMerge,
		"a head that moved is not merged":                             movedHead,
		"one that was merged with another head is no success":         mergedOther,
		"one that is closed is not merged":                            closedNotMerged,
		"a pull request that is not there is not found":               noSuchPR,
		"hostile words of people are shown as they are":               hostileReview,
		"a forge that fails is no pull request that is gone":          brokenForge,
		"too many requests to a forge are made a moment later":        limitedForge,
		"a forge's bad secret is an error that does not tell it":      deniedForge,
		"a name that is no branch is refused or finds nothing at all": noName,
	}
}

// forgeEnv is a forge with one client.
type forgeEnv struct {
	*testing.T
	ForgeWorld
	forge trackers.Forge
}

func (y *forgeEnv) newContext() context.Context {
	ctx, cancel := context.WithTimeout(y.Context(), callTimeout)
	y.Cleanup(cancel)
	return ctx
}

// trackerEnv returns an env for the checks of errors.
func (y *forgeEnv) trackerEnv() *env { return &env{T: y.T} }

// oneLine checks the form of an error.
func (y *forgeEnv) oneLine(err error) {
	y.Helper()
	y.trackerEnv().oneLine(err)
	if k, ok := y.ForgeWorld.(Keeper); ok && k.Secret() != "" && strings.Contains(err.Error(), k.Secret()) {
		y.Error("the secret is in the text of an error")
	}
}

func (y *forgeEnv) requireSupport(what ...string) {
	y.Helper()
	limit, is := y.ForgeWorld.(Limit)
	for _, w := range what {
		if is && !limit.CanDo(w) {
			y.Skipf("this world cannot do %q", w)
		}
	}
}

// newPull returns a pull request for a branch.
func (y *forgeEnv) newPull(branch string) tracker.NewPR {
	return tracker.NewPR{Branch: branch, Base: y.BaseBranch(), Title: "Change of " + branch, Body: "What changed, and why."}
}

// pushAndOpen pushes a branch and opens a pull request for it.
func (y *forgeEnv) pushAndOpen(branch string) (pr tracker.PR, head string) {
	y.Helper()
	head = y.PushBranch(y.T, branch)
	return y.createPull(y.newPull(branch)), head
}

func (y *forgeEnv) createPull(n tracker.NewPR) tracker.PR {
	y.Helper()
	pr, err := y.forge.CreatePR(y.newContext(), n)
	if err != nil {
		y.Fatalf("open %+v: %v", n, err)
	}
	return pr
}

func (y *forgeEnv) readPull(number int) tracker.PR {
	y.Helper()
	pr, err := y.forge.ReadPR(y.newContext(), number)
	if err != nil {
		y.Fatalf("show %d: %v", number, err)
	}
	return pr
}

func (y *forgeEnv) requireState(number int, state string) {
	y.Helper()
	if pr := y.readPull(number); pr.State != state {
		y.Errorf("pull request %d is %s, want %s", number, pr.State, state)
	}
}

// retryUntilDone repeats do until it succeeds.
func (y *forgeEnv) retryUntilDone(what string, do func() error) {
	y.Helper()
	var err error
	for range tries {
		if err = do(); err == nil {
			return
		}
		y.oneLine(err)
		var no *board.Refusal
		if errors.As(err, &no) || errors.Is(err, tracker.ErrNotFound) {
			y.Fatalf("%s: what would work is given up: %v", what, err)
		}
	}
	y.Fatalf("%s: after %d tries: %v", what, tries, err)
}

// requireRefusal checks that the error is a refusal.
func (y *forgeEnv) requireRefusal(what string, err error) {
	y.Helper()
	var no *board.Refusal
	if !errors.As(err, &no) {
		y.Fatalf("%s: the error is %T, not a refusal: %v", what, err, err)
	}
	y.oneLine(err)
}

// requireEqual compares values.
func (y *forgeEnv) requireEqual(what string, want, got any) {
	y.Helper()
	if !reflect.DeepEqual(want, got) {
		y.Errorf("%s: got\n%+v, want\n%+v", what, got, want)
	}
}

func pullNumbers(list []tracker.PR) (out []int) {
	for _, pr := range list {
		out = append(out, pr.Number)
	}
	return out
}

func (y *forgeEnv) listNumbers(branch string) []int {
	y.Helper()
	list, err := y.forge.ListBranchPRs(y.newContext(), branch)
	if err != nil {
		y.Fatalf("list those of %s: %v", branch, err)
	}
	return pullNumbers(list)
}
