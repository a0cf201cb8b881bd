package cli_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"orange/internal/core/journal"
	"orange/internal/core/task"
)

// follow lays down the entries that come after a deed was asked for.
func follow(entries ...string) func(*env) {
	return func(w *env) {
		entries := append([]string{
			`"seq":2,"type":"status.changed","cause":"tracker","from":"planning","to":"elsewhere"`, // long ago
			`"seq":5,"type":"effect.asked","effects":[{"id":"` + idOne + `/5/0","do":"merge","by":"person"}]`,
		}, entries...)
		for i, e := range entries {
			w.store.Rows = append(w.store.Rows, journal.Row{ID: int64(i + 10), Entry: json.RawMessage(fmt.Sprintf(`{"task":%q,%s}`, idOne, e))})
		}
	}
}

// receipt is an entry about a try of the deed.
func receipt(seq int, kind, rest string) string {
	return fmt.Sprintf(`"seq":%d,"type":"effect.%s","at":"2026-03-04T12:00:00Z",%s`, seq, kind, rest)
}

func about(text string) string {
	return `"receipt":{"effect":"` + idOne + `/5/0","ok":false,"error":"` + text + `"}`
}

func TestPersonActions(t *testing.T) {
	t.Parallel()
	done := receipt(8, "done", `"tries":1,"receipt":{"effect":"`+idOne+`/5/0","ok":true}`)
	other := receipt(6, "done", `"tries":1,"receipt":{"effect":"`+idOne+`/4/0","ok":true}`)
	move := `"seq":7,"type":"status.changed","cause":"tracker","from":"reviewing","to":"done"`
	back := `"seq":6,"type":"status.changed","cause":"request","actor":"human","from":"reviewing","to":"working","dropped":["` + idOne + `/5/0"]`
	failed := receipt(6, "failed", `"tries":1,"again":"2026-03-04T12:00:04Z",`+about(`locked\u001b[31m`))
	pr := func(w *env) {
		follow(done)(w)
		w.store.Tasks[0].PRURL = "https://forge/pr/7"
	}
	tell(t, []story{
		{name: "merge", args: "task merge " + idOne, prepare: follow(other, move, done), out: "Merged proj/feature; oneAAAAA reviewing -> done\n",
			asked: []string{request(`"actor":"human","verb":"merge"`)}},
		{name: "merge, the move comes after it", args: "task merge one", prepare: follow(done, move), out: "oneAAAAA reviewing -> done\n"},
		{name: "merge, nothing comes of it", args: "task merge one", prepare: follow(done), out: "Merged proj/feature; oneAAAAA stays working\n"},
		{name: "merge, and a gate is closed", args: "task merge one", prepare: func(w *env) {
			follow(done)(w)
			w.answers["/v1/tasks/"+idOne+"/explain"] = `{"edges":[{"to":"done","reasons":[{"to":"done","rule":"actor","ok":true},{"to":"done","rule":"gate","ok":false,"text":"merged: branch feature is not in main"}]}]}`
		}, out: "Merged proj/feature; oneAAAAA stays working, because it cannot go to done: merged: branch feature is not in main\n"},
		{name: "merge by a strategy", args: "task merge " + idOne + " --strategy merge", prepare: follow(move, done),
			asked: []string{request(`"actor":"human","verb":"merge","arg":"merge"`)}},
		{name: "merge by an odd strategy", args: "task merge one --strategy octopus", code: 2, err: `strategy "octopus" is not known: give auto, ff, merge, rebase or squash`, asked: []string{}},
		{name: "merge, at the second try", args: "task merge one", prepare: follow(failed, move, strings.Replace(done, `"tries":1`, `"tries":2`, 1)),
			out: "Merged proj/feature", err: "orange: merge failed and is tried again in 4s: locked\n"},
		{name: "merge, given up", args: "task merge one", prepare: follow(receipt(6, "gave-up", `"tries":1,`+about("main has moved: rebase it"))), code: 1,
			err: "orange: task merge: it was given up: main has moved: rebase it\n"},
		{name: "push, given up after many tries", args: "task push one", prepare: follow(receipt(6, "gave-up", `"tries":6,`+about("no route"))), code: 1,
			err: "orange: task push: it failed 6 times and was given up: no route\n"},
		{name: "merge, given up, as JSON", args: "task merge one --json", prepare: follow(receipt(6, "gave-up", `"tries":1,`+about("no"))), code: 1,
			out: `{"error":"it was given up: no"}`, err: "no"},
		{name: "merge, the task is deleted meanwhile", args: "task merge one", prepare: follow(`"seq":6,"type":"task.deleted"`), code: 1, err: "was deleted in the meantime"},
		{name: "merge, sent back meanwhile", args: "task merge one", prepare: follow(back), code: 1, err: "orange: task merge: it was taken back: oneAAAAA reviewing -> working\n"},
		{name: "merge, cancelled by the forge meanwhile", args: "task merge one", prepare: follow(strings.NewReplacer(`"working"`, `"cancelled"`, `"request"`, `"tracker"`).Replace(back)),
			code: 1, err: "orange: task merge: it was taken back: oneAAAAA reviewing -> cancelled\n"},
		{name: "merge, taken back without a move", args: "task merge one", prepare: follow(`"seq":6,"type":"effect.asked","dropped":["` + idOne + `/5/0"]`), code: 1,
			err: "orange: task merge: it was taken back: see orange task history " + idOne + "\n"},
		{name: "merge, while another effect is dropped", args: "task merge one", prepare: follow(strings.Replace(back, "/5/0", "/4/0", 1), move, done), out: "Merged proj/feature; oneAAAAA reviewing -> done\n"},
		{name: "merge, in a workflow that goes on", args: "task merge one", prepare: follow(strings.NewReplacer(`"working"`, `"deploying"`, `"cause":"request"`, `"cause":"tracker","snapshot":{"word":"pr:merged"}`).Replace(back), done),
			out: "Merged proj/feature; oneAAAAA reviewing -> deploying\n"},
		{name: "merge, dropped after it was done", args: "task merge one", prepare: follow(done, strings.Replace(strings.Replace(back, `"working"`, `"done"`, 1), `"request"`, `"tracker"`, 1)),
			out: "Merged proj/feature; oneAAAAA reviewing -> done\n"},
		{name: "merge of a paused task", args: "task merge one", prepare: func(w *env) { follow(move, done)(w); w.store.Tasks[0].Paused = true },
			out: "Merged", err: "orange: task oneAAAAA is paused: this waits for orange resume " + idOne + "\n"},
		{name: "merge behind something given up", args: "task merge one", prepare: func(w *env) {
			follow(move, done)(w)
			w.store.Tasks[0].Attention, w.store.Tasks[0].Pending = "push failed", []task.Effect{{GivenUp: true}}
		}, out: "Merged", err: "needs attention first (push failed)"},
		{name: "merge behind something that is given up meanwhile", args: "task merge one", prepare: follow(
			`"seq":6,"type":"effect.gave-up","attention":"push failed 6 times: no route","tries":6,"receipt":{"effect":"`+idOne+`/4/0","ok":false,"error":"no route"}`, move, done),
			out: "Merged", err: "orange: push failed 6 times: no route: orange resume " + idOne + " tries that again\n"},
		{name: "merge without waiting", args: "task merge one --no-wait", out: "oneAAAAA: merge is asked for; see how it goes with orange task history " + idOne + "\n"},
		{name: "merge without waiting, as JSON", args: "task merge one --no-wait --json", out: `"type":"effect.asked"`},
		{name: "merge refused", args: "task merge one", prepare: func(w *env) { w.refuse = "a merge is for one that waits for it" }, code: 1, err: "orange: task merge: a merge is for one that waits for it\n"},
		{name: "push", args: "task push " + idOne, prepare: follow(done), out: "Pushed proj/feature\n", asked: []string{request(`"actor":"human","verb":"push"`)}},
		{name: "pull request", args: "task create-pr " + idOne, prepare: pr, out: "The pull request of proj/feature is https://forge/pr/7\n",
			asked: []string{request(`"actor":"human","verb":"create-pr"`)}},
		{name: "pull request without an address", args: "task create-pr one", prepare: follow(done), out: "Opened a pull request for proj/feature\n"},
		{name: "of nothing", args: "task push", code: 2, err: "use orange task push <id>"},
		{name: "of an unknown task", args: "task push nope", code: 1, err: "not found"},
		{name: "an agent, for another task", args: "task merge " + idTwo, prepare: inAttempt, code: 1, err: "it may not change task twoBBBBB", asked: []string{}},
	})
}

func TestPersonActionAsJSON(t *testing.T) {
	w := newEnv(t)
	follow(`"seq":6,"type":"status.changed","cause":"tracker","from":"reviewing","to":"done"`,
		receipt(8, "done", `"tries":3,"receipt":{"effect":"`+idOne+`/5/0","ok":true}`))(w)
	if code := w.run(t, "task", "merge", "one", "--json"); code != 0 {
		t.Fatal(code, w.err.String())
	}
	var got struct {
		Task   task.Task
		Effect string
		Tries  int
	}
	if err := json.Unmarshal(w.out.Bytes(), &got); err != nil || got.Task.ID != idOne || got.Effect != idOne+"/5/0" || got.Tries != 3 {
		t.Errorf("%v: %s", err, w.out.String())
	}
}
