package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"orange/internal/core/task"
	"orange/internal/wire"
)

func TestEveryRouteAnswersAsTheContractSays(t *testing.T) {
	r := open(t)
	id := r.create("a")
	tests := []struct {
		method, path, body string
		want               string // in the answer
	}{
		{"GET", "/v1/hello", "", `"version":"1.2.3"`},
		{"GET", "/v1/tasks", "", `{"tasks":[{"id":"` + id},
		{"GET", "/v1/tasks?project=q", "", `{"tasks":[]}`},
		{"GET", "/v1/tasks/" + id, "", `"dir":"` + r.folders.Path("p", task.ID(id))},
		{"GET", "/v1/tasks/" + id + "/history", "", `{"history":[{"type":"task.created","timestamp":"`},
		{"GET", "/v1/tasks/" + id + "/journal", "", `{"entries":[{"task":"` + id},
		{"GET", "/v1/tasks/" + id + "/journal?after=1", "", `{"entries":[]}`},
		{"GET", "/v1/tasks/" + id + "/explain", "", `"why":"it was created and not started"`},
		{"POST", "/v1/tasks/" + id + "/signals", `{"kind":"update","fields":[{"name":"summary","from":"","to":"new"}]}`, `"verdict":"record"`},
		{"POST", "/v1/tasks/" + id + "/signals", `{"kind":"pause"}`, `"paused":true`},
		{"POST", "/v1/tasks/" + id + "/signals", `{"kind":"resume"}`, `"type":"task.resumed"`},
		{"POST", "/v1/tasks/" + id + "/signals", `{"kind":"request","verb":"cancel","note":"enough"}`, `"status":"cancelled"`},
		{"GET", "/v1/tasks", "", `{"tasks":[]}`},
		{"GET", "/v1/tasks?all=1", "", `"status":"cancelled"`},
		{"GET", "/v1/tasks?all=1&status=cancelled", "", `"status":"cancelled"`},
		{"GET", "/v1/projects", "", `{"projects":[{"name":"p",`},
		{"POST", "/v1/projects", `{"name":"q","path":"/q"}`, `{"project":{"name":"q","path":"/q","default_branch":"","pool_size":2}}`},
		{"PATCH", "/v1/projects/q", `{"pool_size":3}`, `"pool_size":3`},
		{"PATCH", "/v1/projects/q", `{"workflow":"orange-direct"}`, `"workflow":"orange-direct"`},
		{"DELETE", "/v1/projects/q", "", `{"project":{"name":"q"`},
		{"GET", "/v1/where?path=/x", "", `{"project":"","task":"","git_root":"/x"}`},
		{"POST", "/v1/pause", "", `{"paused":true}`},
		{"POST", "/v1/resume", "", `{"paused":false}`},
		{"GET", "/v1/doctor", "", `{"checks":[{"name":"disk","ok":true,"detail":"there is room"}]}`},
		{"POST", "/v1/repair", "", `{"checks":[`},
		{"GET", "/v1/export", "", `{"kind":"orange","version":2,"store":"`},
		{"POST", "/v1/import", `{"path":"/home"}`, `{"tasks":0,"projects":1,"skipped":[]}`},
	}
	for _, tt := range tests {
		t.Run(tt.method+" "+tt.path, func(t *testing.T) {
			got := r.ask(tt.method, tt.path, tt.body)
			if got.status != http.StatusOK || !strings.Contains(got.text, tt.want) {
				t.Errorf("%d %s\nwant %s", got.status, got.text, tt.want)
			}
			if got.header.Get(wire.HeaderAPI) != "1" || got.header.Get(wire.HeaderVersion) != "1.2.3" {
				t.Errorf("the handshake is missing: %v", got.header)
			}
		})
	}
}

func TestAnAnswerHasTheRecordAndTheDecision(t *testing.T) {
	r := open(t)
	got := r.ask("POST", "/v1/tasks", `{"project":"p","summary":"s","context":"# not a heading","spawn":true,"effort":"high"}`)
	var a struct {
		Task     task.Task
		Decision struct {
			Verdict string
			Reasons []any
			Entries []any
		}
	}
	must(t, json.Unmarshal([]byte(got.text), &a))
	if a.Task.Status != "planning" || a.Task.Effort != "high" || a.Decision.Verdict != "advance" || len(a.Decision.Entries) != 2 || len(a.Decision.Reasons) == 0 {
		t.Errorf("%s", got.text)
	}
	if shown := r.ask("GET", "/v1/tasks/"+string(a.Task.ID), ""); !strings.Contains(shown.text, "not a heading") {
		t.Errorf("the context is lost: %s", shown.text)
	}
}

func TestARefusalIsAConflictWithTheWholeDecision(t *testing.T) {
	r := open(t)
	id := r.create("a")
	got := r.ask("POST", "/v1/tasks/"+id+"/signals", `{"kind":"request","to":"done"}`)
	got.refused(t, http.StatusConflict, "not in map: there is no edge pending -> done")
	decision, _ := got.body["decision"].(map[string]any)
	if decision["verdict"] != "refuse" || decision["refused"] != got.body["error"] || got.body["task"].(map[string]any)["id"] != id {
		t.Errorf("%s", got.text)
	}
	if entries, ok := decision["entries"].([]any); !ok || len(entries) != 0 {
		t.Errorf("entries: %v", decision["entries"])
	}
}

func TestABeginningOfAnIDIsEnoughIfItIsUnique(t *testing.T) {
	r := open(t)
	for _, id := range []string{"abcdefghijklmnopqrstu", "abcdefghijXXXXXXXXXXX"} {
		if got := r.ask("POST", "/v1/tasks", `{"id":"`+id+`","project":"p","branch":"`+id+`","summary":"s"}`); got.status != http.StatusOK {
			t.Fatal(got.text)
		}
	}
	for _, path := range []string{"", "/history", "/journal", "/explain"} {
		if got := r.ask("GET", "/v1/tasks/abcdefghijk"+path, ""); got.status != http.StatusOK {
			t.Errorf("%s: %d %s", path, got.status, got.text)
		}
		r.ask("GET", "/v1/tasks/abc"+path, "").refused(t, http.StatusBadRequest, `"abc" names 2 tasks: abcdefghijXXXXXXXXXXX (p/abcdefghijXXXXXXXXXXX, pending, "s"), abcdefghijklmnopqrstu (p/abcdefghijklmnopqrstu, pending, "s"): give the id of one`)
		r.ask("GET", "/v1/tasks/xyz"+path, "").refused(t, http.StatusNotFound, `task not found: "xyz" is no id, branch or summary of a task: see orange task list`)
		r.ask("GET", "/v1/tasks/a-b"+path, "").refused(t, http.StatusNotFound, `task not found: "a-b" is no id, branch or summary of a task: see orange task list`)
	}
	got := r.ask("POST", "/v1/tasks/abcdefghijX/signals", `{"kind":"pause"}`)
	if got.status != http.StatusOK || !strings.Contains(got.text, "abcdefghijXXXXXXXXXXX") {
		t.Errorf("%d %s", got.status, got.text)
	}
}

func TestWhatIsNotUnderstoodIsAMistake(t *testing.T) {
	r := open(t)
	id := r.create("a")
	signals := "/v1/tasks/" + id + "/signals"
	tests := []struct {
		name, method, path, body string
		status                   int
		words                    string
	}{
		{"no JSON", "POST", "/v1/tasks", `hello`, 400, "the request is not understood"},
		{"nothing", "POST", "/v1/tasks", ``, 400, "the request is not understood"},
		{"a field of no task", "POST", "/v1/tasks", `{"project":"p","colour":"red"}`, 400, `unknown field "colour"`},
		{"a field of no project", "POST", "/v1/projects", `{"nme":"p"}`, 400, `unknown field "nme"`},
		{"a field of no change", "PATCH", "/v1/projects/p", `{"path":"/x"}`, 400, `unknown field "path"`},
		{"a field of no signal", "POST", signals, `{"kind":"pause","colour":"red"}`, 400, `unknown field "colour"`},
		{"a field of no import", "POST", "/v1/import", `{"folder":"/x"}`, 400, `unknown field "folder"`},
		{"no kind", "POST", signals, `{}`, 400, `a signal of kind "" cannot be submitted`},
		{"an unknown kind", "POST", signals, `{"kind":"junk"}`, 400, `a signal of kind "junk" cannot be submitted`},
		{"a kind of the runtime's own", "POST", signals, `{"kind":"effect"}`, 400, `a signal of kind "effect" cannot be submitted`},
		{"a timer", "POST", signals, `{"kind":"timer"}`, 400, `a signal of kind "timer" cannot be submitted`},
		{"tampering", "POST", signals, `{"kind":"tamper"}`, 400, `a signal of kind "tamper" cannot be submitted`},
		{"a creation as a signal", "POST", signals, `{"kind":"create"}`, 400, `a signal of kind "create" cannot be submitted`},
		{"an unknown project", "POST", "/v1/tasks", `{"project":"q","summary":"s"}`, 400, `project "q" is not registered: orange project add`},
		{"an unknown workflow", "POST", "/v1/tasks", `{"project":"p","summary":"s","workflow":"junk"}`, 400, `workflow "junk" is not known: see orange workflow list`},
		{"a branch in use", "POST", "/v1/tasks", `{"project":"p","summary":"s","branch":"a"}`, 400, "works on branch a already"},
		{"an unknown actor", "POST", signals, `{"kind":"request","to":"planning","actor":"boss"}`, 409, `actor "boss" is not known`},
		{"a status of no entry", "POST", "/v1/tasks", `{"project":"p","summary":"s","status":"working"}`, 409, `Invalid status "working"`},
		{"no number", "GET", "/v1/tasks/" + id + "/journal?after=x", ``, 400, `after="x" is not a number`},
		{"no row", "GET", "/v1/events?after=x", ``, 400, `Last-Event-ID "x" is not a row`},
		{"a row below none", "GET", "/v1/events?after=-1", ``, 400, `is not a row`},
		{"a pool of none", "PATCH", "/v1/projects/p", `{"pool_size":0}`, 400, "pool size 0: give a positive integer"},
		{"a project with tasks", "DELETE", "/v1/projects/p", ``, 400, `project "p" has 1 open tasks`},
		{"a project twice", "POST", "/v1/projects", `{"name":"p","path":"/q"}`, 400, `project "p" already exists`},
		{"no export", "POST", "/v1/import", `{"path":""}`, 400, "name a folder"},
		{"no such way", "GET", "/v1/junk", ``, 404, "GET /v1/junk is not served"},
		{"no such method", "DELETE", "/v1/tasks", ``, 404, "DELETE /v1/tasks is not served"},
		{"the root", "GET", "/", ``, 404, "GET / is not served"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r.ask(tt.method, tt.path, tt.body).refused(t, tt.status, tt.words)
		})
	}
}

func TestABodyHasALimit(t *testing.T) {
	r := open(t)
	id := r.create("a")
	large := `{"note":"` + strings.Repeat("x", 4<<20) + `"}`
	for _, path := range []string{"/v1/tasks", "/v1/projects", "/v1/tasks/" + id + "/signals"} {
		r.ask("POST", path, large).refused(t, http.StatusRequestEntityTooLarge, "the request has more than 4194304 bytes")
	}
}

func TestAnotherAPIVersionIsRefused(t *testing.T) {
	r := open(t)
	for _, path := range []string{"/v1/tasks", "/v1/projects", "/v1/junk"} {
		r.ask("GET", path, "", wire.HeaderAPI, "2").refused(t, http.StatusUpgradeRequired,
			"the server speaks version 1 of the interface and this client version 2: run orange restart, then try again")
	}
	if got := r.ask("GET", "/v1/hello", "", wire.HeaderAPI, "99"); got.status != http.StatusOK || got.body["api"] != 1.0 || got.body["pid"] != 42.0 {
		t.Errorf("%d %s", got.status, got.text)
	}
	if got := r.ask("POST", "/v1/stop", "", wire.HeaderAPI, "99"); got.status != http.StatusOK || got.body["stopped"] != true {
		t.Errorf("%d %s", got.status, got.text)
	}
	must(t, r.stop())
}

func TestAnExportIsImportedElsewhere(t *testing.T) {
	from, to := open(t), open(t)
	id := from.create("a")
	export := from.ask("GET", "/v1/export", "")
	if got := export.header.Get("Content-Type"); got != "application/jsonl" {
		t.Errorf("the export is %s", got)
	}
	got := to.ask("POST", "/v1/import", export.text, "Content-Type", "application/jsonl")
	if got.status != http.StatusOK || got.body["tasks"] != 1.0 {
		t.Fatalf("%d %s", got.status, got.text)
	}
	if got := to.ask("GET", "/v1/tasks/"+id, ""); got.status != http.StatusOK {
		t.Errorf("%d %s", got.status, got.text)
	}
	to.ask("POST", "/v1/import", "hello", "Content-Type", "application/jsonl").refused(t, http.StatusBadRequest, "line 1 of the export does not parse")
}

func TestAfterClosingEverythingThatChangesIsUnavailable(t *testing.T) {
	r := open(t)
	id := r.create("a")
	r.runtime.Close()
	r.ask("POST", "/v1/tasks", `{"project":"p","summary":"s"}`).refused(t, http.StatusServiceUnavailable, "shutting down: try again")
	r.ask("POST", "/v1/tasks/"+id+"/signals", `{"kind":"pause"}`).refused(t, http.StatusServiceUnavailable, "shutting down")
	if got := r.ask("GET", "/v1/tasks/"+id, ""); got.status != http.StatusOK {
		t.Errorf("reading: %d %s", got.status, got.text)
	}
}
