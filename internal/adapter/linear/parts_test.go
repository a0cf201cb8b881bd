package linear

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"orange/internal/core/tracker"
)

var uuid4 = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

// TestMarksSurviveInIDs checks that a mark is found again, however Linear changes the text, on
// its own issue and on no other.
func TestMarksSurviveInIDs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		issue := rapid.StringMatching(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}`).Draw(t, "issue")
		mark := tracker.Mark + rapid.StringMatching(`[0-9a-f]{20}`).Draw(t, "mark") + " -->"
		text := rapid.String().Draw(t, "text")
		id := commentID(issue, markOf(text+"\n\n"+mark), "key")
		if !uuid4.MatchString(id) {
			t.Fatalf("%q is no UUID of version 4", id)
		}
		if got := withMark(issue, id, text); !strings.Contains(got, mark) {
			t.Errorf("%q", got)
		}
		if got := withMark(issue, strings.ToUpper(id), text+mark); got != text+mark {
			t.Errorf("a mark that is there is given twice: %q", got)
		}
		if got := withMark(issue+"x", id, text); got != text {
			t.Errorf("another issue has it: %q", got)
		}
		plain := commentID(issue, "", mark)
		if !uuid4.MatchString(plain) || withMark(issue, plain, text) != text || plain == id {
			t.Errorf("%q has a mark that nobody gave it", plain)
		}
	})
	if commentID("i", "", "k") == commentID("j", "", "k") || commentID("i", "", "") != "" {
		t.Error("ids come from the issue and the key, if there is one")
	}
}

func TestPullRequests(t *testing.T) {
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		url, metadata string
		want          *tracker.PR
	}{
		"of GitHub, with all facts": {
			"https://github.com/acme/shop/pull/7", `{"status":"merged","title":"Change","branch":"b","targetBranch":"main","createdAt":"2026-01-01T00:00:00Z"}`,
			&tracker.PR{Number: 7, URL: "https://github.com/acme/shop/pull/7", State: tracker.Merged, Title: "Change", Branch: "b", Base: "main", CreatedAt: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}},
		"a draft":                           {"https://github.com/acme/shop/pull/7", `{"status":"draft"}`, &tracker.PR{Number: 7, URL: "https://github.com/acme/shop/pull/7", State: tracker.Open, Title: "t", CreatedAt: noon}},
		"closed":                            {"https://github.com/acme/shop/pull/7", `{"status":"closed"}`, &tracker.PR{Number: 7, URL: "https://github.com/acme/shop/pull/7", State: tracker.Closed, Title: "t", CreatedAt: noon}},
		"merged by a date":                  {"https://github.com/acme/shop/pull/7", `{"status":"","mergedAt":"2026-01-01T00:00:00Z"}`, &tracker.PR{Number: 7, URL: "https://github.com/acme/shop/pull/7", State: tracker.Merged, Title: "t", CreatedAt: noon}},
		"without facts":                     {"https://github.com/acme/shop/pull/7", `{}`, &tracker.PR{Number: 7, URL: "https://github.com/acme/shop/pull/7", Title: "t", CreatedAt: noon}},
		"facts of a form that nobody knows": {"https://github.com/acme/shop/pull/7", `{"status":7}`, &tracker.PR{Number: 7, URL: "https://github.com/acme/shop/pull/7", Title: "t", CreatedAt: noon}},
		"a page of it":                      {"https://github.com/acme/shop/pull/7/files?w=1#x", ``, &tracker.PR{Number: 7, URL: "https://github.com/acme/shop/pull/7", Title: "t", CreatedAt: noon}},
		"of GitLab":                         {"https://gitlab.com/acme/web/shop/-/merge_requests/3", ``, &tracker.PR{Number: 3, URL: "https://gitlab.com/acme/web/shop/-/merge_requests/3", Title: "t", CreatedAt: noon}},
		"of Gitea":                          {"http://git.test:3000/acme/shop/pulls/3", ``, &tracker.PR{Number: 3, URL: "http://git.test:3000/acme/shop/pulls/3", Title: "t", CreatedAt: noon}},
		"an issue":                          {"https://github.com/acme/shop/issues/7", `{"status":"open"}`, nil},
		"another scheme":                    {"javascript://github.com/acme/shop/pull/7", ``, nil},
		"with a password":                   {"https://a:b@github.com/acme/shop/pull/7", ``, nil},
		"number 0":                          {"https://github.com/acme/shop/pull/0", ``, nil},
		"no address":                        {"::", ``, nil},
		"a number too long":                 {"https://github.com/acme/shop/pull/12345678901234567890", ``, nil},
	} {
		t.Run(name, func(t *testing.T) {
			a := attachment{URL: tc.url, Title: "t", Metadata: json.RawMessage(tc.metadata), CreatedAt: noon}
			var want []tracker.PR
			if tc.want != nil {
				want = []tracker.PR{*tc.want}
			}
			if diff := cmp.Diff(want, pullRequests([]attachment{a, a})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWhoSaidIt(t *testing.T) {
	alice, app := &account{DisplayName: "alice"}, &account{DisplayName: "helper", App: true}
	for name, tc := range map[string]struct {
		user    *account
		bot     *named
		outside *externalUser
		want    string
		isBot   bool
	}{
		"a member":                     {alice, nil, nil, "alice", false},
		"an app":                       {app, nil, nil, "helper", true},
		"an app that calls itself one": {nil, &named{"alice"}, nil, "alice (app)", true},
		"an app for a member":          {alice, &named{"alice"}, nil, "alice (app)", true},
		"an app without a name":        {alice, &named{}, nil, "alice (app)", true},
		"somebody from outside":        {nil, nil, &externalUser{"alice"}, "alice (external)", true},
		"nobody":                       {nil, nil, nil, "unknown (app)", true},
	} {
		if got, bot := nameAuthor(tc.user, tc.bot, tc.outside); got != tc.want || bot != tc.isBot {
			t.Errorf("%s: %q, %v", name, got, bot)
		}
	}
}

func TestLinesAndBounds(t *testing.T) {
	if got := oneLine("a\nb\x1b[1m\tc\u2028d\x00"); got != "a b[1m c d" {
		t.Errorf("%q", got)
	}
	if got := oneLine(strings.Repeat("ü", 1000)); utf8.RuneCountInString(got) != maxLine+3 {
		t.Errorf("%d characters", utf8.RuneCountInString(got))
	}
	if got := boundText(strings.Repeat("ü", maxText)); len(got) != maxText || !utf8.ValidString(got) {
		t.Errorf("%d bytes", len(got))
	}
	if got := boundText("x" + strings.Repeat("ü", maxText)); len(got) != maxText-1 || !utf8.ValidString(got) {
		t.Errorf("%d bytes", len(got))
	}
}
