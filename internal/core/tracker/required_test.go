package tracker

import (
	"strings"
	"testing"
)

func TestRequiredChecks(t *testing.T) {
	all := []Check{{Name: "ci/build", State: CheckPassed}, {Name: "ci/test", State: CheckFailed}, {Name: "lint", State: CheckPassed}}
	for name, tt := range map[string]struct{ required, failed, pending, passed string }{
		"a forge that does not say":      {"", "ci/test", "", "ci/build lint"},
		"one name":                       {"lint", "", "", "lint"},
		"one that is not reported":       {"lint deploy", "", "deploy", "lint"},
		"a pattern":                      {"ci/*", "ci/test", "", "ci/build"},
		"a pattern that nothing matches": {"cd/*", "", "cd/*", ""},
		"a pattern in the middle":        {"c*/b*ld", "", "", "ci/build"},
		"a part of a name":               {"lin", "", "lin", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := RequiredChecks(all, strings.Fields(tt.required))
			for state, want := range map[string]string{CheckFailed: tt.failed, CheckPending: tt.pending, CheckPassed: tt.passed} {
				if names := strings.Join(ChecksIn(got, state), " "); names != want {
					t.Errorf("%s: %q, want %q", state, names, want)
				}
			}
		})
	}
}

func TestTheLastWordOfAReviewerCounts(t *testing.T) {
	pr := PR{Reviews: []Review{
		{Author: "ann", Verdict: ChangesRequested}, {Author: "bob", Verdict: Approved}, {Author: "ci", Bot: true, Verdict: Approved},
		{Author: "ann", Verdict: Approved}, {Author: "ann", Verdict: Commented}, {Author: "eve", Verdict: ChangesRequested},
	}}
	approved, against := pr.ApprovedBy()
	if strings.Join(approved, " ") != "ann bob" || strings.Join(against, " ") != "eve" {
		t.Errorf("%v, %v", approved, against)
	}
}
