package tracker

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"orange/internal/lazy"
)

// ChoosePR returns the pull request of an issue, or false if there is none. It prefers linked to byBranch, the pull
// requests from the branch of its task, and byBranch to byKey, those that mention its key: a later list counts only if
// the ones before it are empty. In a list an open one is preferred to a merged one, and a merged one to a closed one;
// of several in the same state the newest is chosen. A pull request in an unknown state is never chosen.
func ChoosePR(linked, byBranch, byKey []PR) (PR, bool) {
	for _, list := range [][]PR{linked, byBranch, byKey} {
		if pr, ok := bestPR(list); ok {
			return pr, true
		}
	}
	return PR{}, false
}

func bestPR(list []PR) (PR, bool) {
	list = slices.DeleteFunc(slices.Clone(list), func(pr PR) bool { return prRank(pr) == 0 })
	if len(list) == 0 {
		return PR{}, false
	}
	return slices.MaxFunc(list, func(a, b PR) int {
		return cmp.Or(cmp.Compare(prRank(a), prRank(b)), a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.Number, b.Number))
	}), true
}

// prRank returns a higher number for a pull request that is preferred, and 0 for one that is never chosen.
func prRank(pr PR) int {
	switch strings.ToUpper(pr.State) {
	case Open:
		return 3
	case Merged:
		return 2
	case Closed:
		return 1
	}
	return 0
}

var prNumber = lazy.NewRegexp(`PR #(\d+)|pulls?/(\d+)|#(\d+)`)

// PRNumber finds the first pull request that a text mentions: PR #42, .../pull/42, .../pulls/42 (as in Gitea) or #42.
func PRNumber(text string) (int, bool) {
	for _, found := range prNumber.FindAllStringSubmatch(text, -1) {
		n, err := strconv.Atoi(cmp.Or(found[1], found[2], found[3]))
		if err == nil && n > 0 {
			return n, true
		}
	}
	return 0, false
}
