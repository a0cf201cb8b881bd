package cli_test

import (
	"strings"
	"testing"

	"orange/internal/core/task"
)

const (
	trackersAnswer = `{"trackers":[{"config":{"name":"hub","kind":"github","project":"shop","scope":""},"issues":0,"tasks":0},` +
		`{"config":{"name":"lin","kind":"linear","project":"shop","workflow":"linear-sdlc","harness":"pi","url":"https://l.example","scope":"ENG","command":["a","b"],"mapping":"joan","token":"env:LINEAR_API_KEY",` +
		`"webhook":"file:/hook","columns":{"Started":"In Progress"},"eligible":["Todo"],"authors":["alice"],"max":2,"every":60000000000,"auto":true},` +
		`"at":"2026-03-04T11:55:00Z","problem":"no\u001b[2J route\nto host","issues":3,"tasks":1}]}`
	wholeTracker = `"kind":"linear","project":"shop","workflow":"linear-sdlc","harness":"pi","url":"https://l.example","scope":"ENG","command":["a","b"],"mapping":"joan","token":"env:LINEAR_API_KEY",` +
		`"webhook":"file:/hook","columns":{"Started":"In Progress"},"eligible":["Todo"],"authors":["alice"]`
)

// withTrackers is a server that knows two trackers, and confirms what is set.
func withTrackers(w *env) {
	w.place.Project = "shop"
	w.answers["/v1/trackers"] = trackersAnswer
}

// answering is such a server with answers for some paths.
func answering(pairs ...string) func(*env) {
	return func(w *env) {
		withTrackers(w)
		for i := 0; i < len(pairs); i += 2 {
			if why, fails := strings.CutPrefix(pairs[i+1], "error: "); fails {
				w.fails[pairs[i]] = task.Mistakef("%s", why)
			} else {
				w.answers[pairs[i]] = pairs[i+1]
			}
		}
	}
}

func TestTrackerAdd(t *testing.T) {
	tell(t, []story{
		{name: "a new one", args: "tracker add new --kind linear --scope ENG --token env:LINEAR_API_KEY --workflow linear-sdlc", prepare: withTrackers,
			out:   "new is a tracker of project shop. See whether it answers: orange tracker test new\n",
			asked: []string{`POST /v1/trackers {"name":"new","kind":"linear","project":"shop","workflow":"linear-sdlc","scope":"ENG","token":"env:LINEAR_API_KEY"}`}},
		{name: "with everything", args: "tracker|add|new|--kind|mcp|--project|other|--harness|pi|--url|https://x|--command|backlog mcp start|--mapping|backlog|--token|file:/t|--webhook-secret|command:pass x|--column|Started=In Progress|--column|A = B|--eligible|Todo|--eligible|Next, please|--author|alice|--author|bob|--max|4|--every|1m|--auto", prepare: withTrackers,
			asked: []string{`POST /v1/trackers {"name":"new","kind":"mcp","project":"other","harness":"pi","url":"https://x","command":["backlog","mcp","start"],"mapping":"backlog","token":"file:/t","webhook":"command:pass x","columns":{"A":"B","Started":"In Progress"},"eligible":["Todo","Next, please"],"authors":["alice","bob"],"max":4,"every":60000000000,"auto":true}`}},
		{name: "what is not said stays", args: "tracker add lin", prepare: withTrackers,
			asked: []string{`POST /v1/trackers {"name":"lin",` + wholeTracker + `,"max":2,"every":60000000000,"auto":true}`}},
		{name: "what is said changes", args: "tracker add lin --max 5 --auto=false", prepare: withTrackers,
			asked: []string{`POST /v1/trackers {"name":"lin",` + wholeTracker + `,"max":5,"every":60000000000}`}},
		{name: "what is taken back", args: "tracker|add|lin|--token||--every|0|--column|Finished=Done|--author|bob", prepare: withTrackers,
			asked: []string{`POST /v1/trackers {"name":"lin",` + strings.NewReplacer(`"token":"env:LINEAR_API_KEY",`, "", `{"Started":"In Progress"}`, `{"Finished":"Done"}`, `"alice"`, `"bob"`).Replace(wholeTracker) + `,"max":2,"auto":true}`}},
		{name: "as JSON", args: "tracker add lin --json", prepare: withTrackers, out: `{"tracker":{"name":"lin",`},
		{name: "a secret", args: "tracker add x --kind linear --token lin_api_123", prepare: withTrackers, code: 2, err: "--token: say where the secret is: env:NAME, file:PATH, command:PROGRAM ARGS or gh; never the secret itself", asked: []string{}},
		{name: "a secret of webhooks", args: "tracker add x --kind linear --webhook-secret abc", prepare: withTrackers, code: 2, err: "--webhook-secret: say where the secret is", asked: []string{}},
		{name: "a variable that the server has not", args: "tracker add x --token env:HOME", prepare: withTrackers, code: 2, err: "env:HOME: the server does not inherit this variable", asked: []string{}},
		{name: "half a column", args: "tracker add x --column Started", prepare: withTrackers, code: 2, err: `--column "Started": give STATUS=COLUMN`, asked: []string{}},
		{name: "a column without a name", args: "tracker|add|x|--column| =y", prepare: withTrackers, code: 2, err: "give STATUS=COLUMN", asked: []string{}},
		{name: "outside of a project", args: "tracker add x --kind board", prepare: func(w *env) { withTrackers(w); w.place.Project = "" }, code: 1, err: "this folder belongs to no project", asked: []string{}},
		{name: "without a name", args: "tracker add", code: 2, err: "0 arguments do not fit", asked: []string{}},
	})
}

func TestTrackerAddKeepsNoSecretInWhatItSays(t *testing.T) {
	w := newEnv(t)
	withTrackers(w)
	w.run(t, "tracker", "add", "x", "--token", "lin_api_123")
	if strings.Contains(w.out.String()+w.err.String(), "lin_api_123") {
		t.Errorf("%s%s", w.out.String(), w.err.String())
	}
}

func TestTrackerList(t *testing.T) {
	tell(t, []story{
		{name: "some", args: "tracker list", prepare: withTrackers, out: "" +
			"NAME  KIND    SCOPE  PROJECT  ISSUES  TASKS  READ    PROBLEM\n" +
			"hub   github  -      shop     0       0      never   -\n" +
			"lin   linear  ENG    shop     3       1      5m ago  no route to host\n"},
		{name: "none", args: "tracker list", prepare: func(w *env) { w.answers["/v1/trackers"] = `{"trackers":[]}` }, out: "No trackers. Add one with: orange tracker add\n"},
		{name: "as JSON", args: "tracker list --json", prepare: withTrackers, out: `{"trackers":[{"config":{"name":"hub",`},
		{name: "issues", args: "tracker issues lin", prepare: answering("/v1/trackers/lin/issues",
			`{"issues":[{"key":"ENG-1","card":{"title":"Sell\u001b[1m it","column":"Backlog","tags":["bug","ui"]},"read_at":"2026-03-04T11:00:00Z"},{"key":"ENG-2","card":{"title":"x","column":"Done","tags":[]}}]}`),
			out: "KEY    COLUMN   READ    TAGS     TITLE\nENG-1  Backlog  1h ago  bug, ui  Sell it\nENG-2  Done     never   -        x\n"},
		{name: "issues as JSON", args: "tracker issues lin --json", prepare: answering("/v1/trackers/lin/issues", `{"issues":[]}`), out: `{"issues":[]}`},
		{name: "issues of no tracker", args: "tracker issues x", prepare: answering("/v1/trackers/x/issues", `error: there is no tracker "x": see orange tracker list`), code: 1, err: `there is no tracker "x": see orange tracker list`},
		{name: "remove", args: "tracker remove lin", prepare: answering("/v1/trackers/lin", `{"removed":"lin"}`), out: "Removed the tracker lin\n", asked: []string{"DELETE /v1/trackers/lin"}},
		{name: "unknown", args: "tracker bogus", code: 2, err: `command "bogus" is not known: see orange tracker --help`},
	})
}

func TestTrackerSync(t *testing.T) {
	const report = `{"tracker":"lin","issues":1,"tasks":2,"news":["lin:ENG-1: moved\u001b[1m to Done"],"drift":[{"task":"` + idOne + `","ref":"lin:ENG-2","status":"Started","want":"Started","have":"Icebox"}]}`
	const printed = "lin: 1 eligible issue, 2 open tasks\n  lin:ENG-1: moved to Done\n  lin:ENG-2 is in Icebox and should be in Started: task " + idOne + " is Started\n"
	tell(t, []story{
		{name: "one", args: "tracker sync lin", prepare: answering("/v1/trackers/lin/sync", report), out: printed, asked: []string{`POST /v1/trackers/lin/sync {"fix":false}`}},
		{name: "and fix", args: "tracker sync lin --fix", prepare: answering("/v1/trackers/lin/sync", report), asked: []string{`POST /v1/trackers/lin/sync {"fix":true}`}},
		{name: "all", args: "tracker sync", prepare: answering("/v1/forges/sync", `{"news":["task x: merged"]}`, "/v1/trackers/hub/sync", `{"tracker":"hub","news":[],"drift":[]}`, "/v1/trackers/lin/sync", report),
			out:   "pull requests:\n  task x: merged\nhub: 0 eligible issues, 0 open tasks\n" + printed,
			asked: []string{"POST /v1/forges/sync {}", `POST /v1/trackers/hub/sync {"fix":false}`, `POST /v1/trackers/lin/sync {"fix":false}`}},
		{name: "one of all is away", args: "tracker sync", prepare: answering("/v1/forges/sync", `{"news":[]}`, "/v1/trackers/hub/sync", "error: hub does not answer", "/v1/trackers/lin/sync", report),
			code: 1, out: "hub: hub does not answer\nlin: 1 eligible issue"},
		{name: "as JSON", args: "tracker sync lin --json", prepare: answering("/v1/trackers/lin/sync", report), out: `{"reports":[{"tracker":"lin","issues":1,`},
		{name: "trouble as JSON", args: "tracker sync lin --json", prepare: answering("/v1/trackers/lin/sync", "error: away"), code: 1, out: `"problem":"away"`},
	})
}

func TestTrackerTest(t *testing.T) {
	tell(t, []story{
		{name: "good", args: "tracker test lin", prepare: answering("/v1/trackers/lin/test", `{"tracker":"lin","account":"orange\u001b[1m-bot","columns":["Backlog","Done"],"tags":[],"missing":[]}`),
			out: "Account  orange-bot\nColumns  Backlog, Done\nTags     -\n", asked: []string{"POST /v1/trackers/lin/test {}"}},
		{name: "words are missing", args: "tracker test lin", prepare: answering("/v1/trackers/lin/test", `{"account":"a","columns":["Backlog"],"tags":["x"],"missing":["column \"Done\"","tag \"y\""]}`), code: 1,
			out: "Missing  column \"Done\", tag \"y\": add them there, or name others with orange tracker add --column\n"},
		{name: "as JSON", args: "tracker test lin --json", prepare: answering("/v1/trackers/lin/test", `{"tracker":"lin","account":"a","columns":[],"tags":[],"missing":[]}`), out: `{"tracker":"lin","account":"a",`},
		{name: "it does not answer", args: "tracker test lin", prepare: answering("/v1/trackers/lin/test", "error: linear: the secret env:LINEAR_API_KEY is not good"), code: 1, err: "orange: tracker test: linear: the secret env:LINEAR_API_KEY is not good\n"},
	})
}
