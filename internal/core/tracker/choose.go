package tracker

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"orange/internal/lazy"
)

// ChoosePR says which pull request of an issue is meant, false if there is none. Those
// that are linked with the issue come first, then those from the branch of its task, then
// those that mention its key: a later list counts only if the ones before it are empty.
// In a list an open one is preferred to a merged one and that to one that was closed; of
// several in the same state the newest is taken. One in a state that is unknown is never
// meant.
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

// prRank is higher the rather a pull request is meant, 0 if it never is.
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

// PRNumber finds the first pull request that a text mentions: PR #42, .../pull/42,
// .../pulls/42 (as Gitea has it) or #42.
func PRNumber(text string) (int, bool) {
	for _, found := range prNumber.FindAllStringSubmatch(text, -1) {
		n, err := strconv.Atoi(cmp.Or(found[1], found[2], found[3]))
		if err == nil && n > 0 {
			return n, true
		}
	}
	return 0, false
}
