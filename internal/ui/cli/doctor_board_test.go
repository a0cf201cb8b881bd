package cli_test

import (
	"errors"
	"testing"
)

func TestDoctorBoard(t *testing.T) {
	const path = "/v1/doctor/board"
	const found = `{"findings":[` +
		`{"card":"board:shop/3","title":"Cart","type":"stale-claim","severity":"error","text":"claimed\u001b[1m too long","fix":{"column":"Done","add_tags":["a","b"],"remove_tags":["c"],"release":"dev-1"}},` +
		`{"card":"board:shop/4","type":"x","severity":"error","text":"odd"},` +
		`{"card":"board:shop/5","type":"y","severity":"warning","text":"may be meant","fix":{"column":"Done"},"problem":"the tracker\ndoes not answer"},` +
		`{"card":"board:shop/6","type":"z","severity":"error","text":"was wrong","fix":{"column":"Done"},"fixed":true}]}`
	const printed = "" +
		"error    board:shop/3  stale-claim  claimed too long\n" +
		"                                    fix: move to Done, add a, b, remove c, release the claim of dev-1\n" +
		"error    board:shop/4  x            odd\n" +
		"                                    a person must decide\n" +
		"warning  board:shop/5  y            may be meant\n" +
		"                                    could not be fixed: the tracker does not answer\n" +
		"fixed    board:shop/6  z            was wrong\n"
	here := func(answer string) func(*env) {
		return func(w *env) { w.place.Project, w.answers[path] = "shop", answer }
	}
	tell(t, []story{
		{name: "what is wrong", args: "doctor board", prepare: here(found), code: 1, out: printed, asked: []string{"POST " + path + ` {"project":"shop"}`}},
		{name: "dry", args: "doctor board --dry-run", prepare: here(found), code: 1, asked: []string{"POST " + path + ` {"project":"shop"}`}},
		{name: "one card", args: "doctor board 3 --fix", prepare: here(found), code: 1, asked: []string{"POST " + path + ` {"project":"shop","key":"3","fix":true}`}},
		{name: "of a tracker", args: "doctor board ENG-1 --tracker lin", prepare: here(`{"findings":[]}`), out: "Nothing is wrong with the board.\n", asked: []string{"POST " + path + ` {"tracker":"lin","key":"ENG-1"}`}},
		{name: "a mere warning", args: "doctor board --project shop", prepare: here(`{"findings":[{"card":"c","type":"y","severity":"warning","text":"may be meant"}]}`), out: "warning  c  y  may be meant\n"},
		{name: "all is mended", args: "doctor board --fix", prepare: here(`{"findings":[{"card":"c","type":"z","severity":"error","text":"was wrong","fix":{},"fixed":true}]}`), out: "fixed  c  z  was wrong\n"},
		{name: "as JSON", args: "doctor board --json", prepare: here(found), code: 1, out: `{"findings":[{"card":"board:shop/3",`},
		{name: "dry and fix", args: "doctor board --dry-run --fix", prepare: here(found), code: 2, err: "--dry-run and --fix do not go together: choose one", asked: []string{}},
		{name: "two boards", args: "doctor board --project a --tracker b", prepare: here(found), code: 2, err: "--project and --tracker do not go together: choose one", asked: []string{}},
		{name: "no project", args: "doctor board", code: 1, err: "this folder belongs to no project", asked: []string{}},
		{name: "trouble", args: "doctor board", prepare: func(w *env) { here(found)(w); w.fails[path] = errors.New(`project "shop" has no board`) }, code: 1, err: `project "shop" has no board`},
	})
}
