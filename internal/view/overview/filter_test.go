package overview

import (
	"strings"
	"testing"

	"orange/internal/core/explain"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

func filterRows() []Row {
	return []Row{
		{ID: "aaaa1111", Project: "shop", Branch: "login", Summary: "Let customers log in", Status: "reviewing", Kind: workflow.HumanDo, Wants: explain.ItemReview, Life: None, PR: &PR{Number: 7}},
		{ID: "bbbb2222", Project: "shop", Branch: "search", Summary: "Search the catalogue", Status: "working", Kind: workflow.Agent, Life: Alive, Attempts: []Attempt{{Role: "worker"}}},
		{ID: "cccc3333", Project: "site", Branch: "mail", Summary: "Send mail after the search", Status: "pending", Kind: workflow.Queued, Wants: explain.ItemStart, Life: None,
			After: []task.Predecessor{{ID: "bbbb2222", Branch: "search"}}},
		{ID: "dddd4444", Project: "site", Branch: "paused", Summary: "Something paused", Status: "working", Kind: workflow.Agent, Life: None, Paused: true},
		{ID: "eeee5555", Project: "shop", Branch: "old", Summary: "Something closed", Status: "done", Kind: workflow.Terminal, Life: None},
	}
}

func chosen(t *testing.T, text string) string {
	t.Helper()
	f, err := ParseFilter(text)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	var out []string
	for _, g := range ChooseRows(filterRows(), Choice{Filter: f}) {
		for i := range g.Rows {
			out = append(out, g.Rows[i].Branch)
		}
	}
	return strings.Join(out, " ")
}

func TestFilters(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "login search mail paused",
		"state:reviewing":               "login",
		"state:rev,pend":                "login mail",
		"project:shop":                  "login search",
		"PROJECT:Shop kind:review":      "login",
		"after:bbbb":                    "mail",
		"after:search":                  "mail",
		"is:alive":                      "search",
		"is:paused":                     "paused",
		"is:closed":                     "old",
		"is:closed,alive":               "search old",
		"needs:me":                      "login",
		"needs:agent":                   "search",
		"needs:nobody":                  "mail paused",
		"search":                        "search mail",
		"srch":                          "search mail", // approximately
		"lcl":                           "login",       // the first letters of words
		"mail search":                   "mail",
		"#7":                            "login",
		"aaaa":                          "login",
		"state:working search":          "search",
		"zzz":                           "",
		"lx":                            "",
		"workflow:x":                    "",
		"  is:open   project:site  ":    "mail paused",
		"catalogue project:shop,site ":  "search",
		"kind:start,review needs:me":    "login",
		"is:idle":                       "",
		"is:dead,queued,landing,paused": "paused",
	} {
		if got := chosen(t, text); got != want {
			t.Errorf("%q selects %q, want %q", text, got, want)
		}
	}
}

// A row that has the word itself comes before one that has its letters.
func TestTheBestMatchComesFirst(t *testing.T) {
	rows := []Row{{Branch: "stage-arch", Summary: "x"}, {Branch: "research", Summary: "x"}, {Branch: "search", Summary: "x"}}
	f, err := ParseFilter("search")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range ChooseRows(rows, Choice{Filter: f})[0].Rows {
		got = append(got, r.Branch)
	}
	if strings.Join(got, " ") != "search research" {
		t.Errorf("got %q", got)
	}
}

func TestAWrongFilterIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"stat:x":      "there is no filter stat: use state, project, workflow, kind, after, is or needs",
		"is:sleepy":   "is:sleepy is not known: use open, closed, alive, idle, dead, paused, queued or landing",
		"is:":         "is: is not known: use open, closed, alive, idle, dead, paused, queued or landing",
		"state:":      "state: needs a value: its state begins with this",
		"needs:you":   "needs:you is not known: use me, agent or nobody",
		"state:a,,b":  "state: needs a value: its state begins with this",
		"kind:reveiw": "kind:reveiw is not known: use paused, attention",
		"board:s/1":   "there is no filter board: use state",
	} {
		if _, err := ParseFilter(text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestFiltersAreCompleted(t *testing.T) {
	values := func(key string) []string {
		return map[string][]string{"project": {"shop", "site"}, "state": {"reviewing", "working"}}[key]
	}
	for word, want := range map[string]string{
		"s":              "state:",
		"":               "state: project: workflow: kind: after: is: needs:",
		"project:s":      "project:shop project:site",
		"project:shop,s": "project:shop,shop project:shop,site",
		"is:al":          "is:alive",
		"needs:":         "needs:me needs:agent needs:nobody",
		"x:":             "",
	} {
		if got := strings.Join(CompleteFilter(word, values), " "); got != want {
			t.Errorf("%q is completed to %q, want %q", word, got, want)
		}
	}
}

func TestWhoseTurn(t *testing.T) {
	for name, tt := range map[string]struct {
		row  Row
		want Turn
	}{
		"a question":             {Row{Kind: workflow.Waiting, Wants: explain.ItemQuestion, Life: Alive}, NeedsYou},
		"an agent at work":       {Row{Kind: workflow.Agent, Life: Alive, Attempts: []Attempt{{}}}, AgentsAtWork},
		"an agent that starts":   {Row{Kind: workflow.Agent, Life: None}, AgentsAtWork},
		"a check":                {Row{Kind: workflow.CheckDo, Checks: []CheckStatus{{State: CheckRunning}}}, AgentsAtWork},
		"an idle agent":          {Row{Kind: workflow.Waiting, Life: Alive, Attempts: []Attempt{{Condition: task.Idle}}}, NobodysTurn},
		"the backlog":            {Row{Kind: workflow.Queued, Wants: explain.ItemStart}, NobodysTurn},
		"queued for a workspace": {Row{Kind: workflow.Agent, Queued: true}, NobodysTurn},
		"paused":                 {Row{Kind: workflow.Agent, Paused: true}, NobodysTurn},
		"closed":                 {Row{Kind: workflow.Terminal}, NoTurn},
		"closed, and not merged": {Row{Kind: workflow.Terminal, Wants: explain.ItemAttention}, NeedsYou},
	} {
		if got := tt.row.WhoseTurn(); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}
