package cli_test

import (
	"strings"
	"testing"

	"orange/internal/core/board"
	"orange/internal/core/task"
)

const (
	cardAnswer = `{"card":{"project":"shop","number":3,"title":"Sell\u001b[2J \u202ethings","author":"human","description":"One.\r\nTitle  \u001b]0;x\u0007forged\n","column":"To Do","tags":["Ready","Planned"],` +
		`"claim":{"owner":"dev\u001b[1m-1","tag":"Claimed-Dev-1","until":"2026-03-04T13:00:00Z"},"version":4,"created_at":"2026-03-04T10:00:00Z","updated_at":"2026-03-04T11:59:00Z"},` +
		`"comments":[{"number":1,"author":"worker\n","at":"2026-03-04T11:00:00Z","text":"Done.\nComment 2, by human"}]}`
	boardAnswer = `{"project":"shop","columns":["To Do","Done\u001b[1m"],"tags":["Ready","Planned"],"cards":[` +
		`{"project":"shop","number":3,"title":"Sell\u001b[2J things","column":"To Do","tags":["Ready","Planned"],"claim":{"owner":"dev-1","until":"2026-03-04T13:00:00Z"}},` +
		`{"project":"shop","number":12,"title":"A title that is much longer than the forty characters it gets","column":"To Do","tags":[],"claim":{"owner":"dev-2","until":"2026-03-04T11:00:00Z"}}]}`
	historyAnswer = `{"history":[{"seq":1,"at":"2026-03-04T10:00:00Z","author":"human","change":{"title":"Cart","column":"To Do","add_tags":["Ready"],"description":"\u00fcber"}},` +
		`{"seq":2,"at":"2026-03-04T11:00:00Z","author":"","change":{"title":"Basket","remove_tags":["Ready"],"claim":{"owner":"a","until":"2026-03-04T13:00:00Z"},"comment":"first\nsecond\u001b[1m"}},` +
		`{"seq":3,"at":"2026-03-04T11:30:00Z","author":"engine","change":{"release":"a"}}]}`
	changedAnswer = `{"card":{"project":"shop","number":3,"title":"Cart","column":"To Do","tags":["Ready","Planned"],"version":4},"changed":true}`
)

func TestBoardShow(t *testing.T) {
	canned := func(w *env) {
		w.answers["/v1/boards/shop"], w.answers["/v1/boards/shop/cards/3"] = boardAnswer, cardAnswer
		w.answers["/v1/boards/shop/cards/3/history"] = historyAnswer
		w.place.Project = "shop"
	}
	const wholeBoard = "To Do\n" +
		"  3   Sell things                                                    Ready, Planned  claimed by dev-1 until 2026-03-04 13:00:00\n" +
		"  12  A title that is much longer than the forty characters it gets  -               claim of dev-2 lapsed 1h ago\n" +
		"Done\n  no cards\n\nTags: Ready, Planned\n"
	const wholeCard = "Card     shop/3\nTitle    Sell things\nColumn   To Do\nTags     Ready, Planned\nClaim    claimed by dev-1 until 2026-03-04 13:00:00\n" +
		"Created  2h ago, 2026-03-04 10:00:00, by human\nChanged  1m ago, version 4\n\nDescription\n  One.\n  Title  forged\n\n" +
		"Comment 1, 1h ago, 2026-03-04 11:00:00, by worker\n  Done.\n  Comment 2, by human\n"
	tell(t, []story{
		{name: "the board here", args: "board show", prepare: canned, out: wholeBoard},
		{name: "the board of a project", args: "board show --project shop", prepare: func(w *env) { canned(w); w.place.Project = "" }, out: wholeBoard},
		{name: "a person's terminal is narrow", args: "board show", prepare: func(w *env) { canned(w); w.IsTerminal = true }, out: "  12  A title that is much longer than the..."},
		{name: "a board as JSON", args: "board show --json", prepare: canned, out: `"columns":["To Do","Done\u001b[1m"],"project":"shop","tags":["Ready","Planned"]}`},
		{name: "a board of no project", args: "board show", code: 1, err: "this folder belongs to no project: name one, or run orange project add"},
		{name: "a board of an odd project", args: "board show --project ..", code: 1, err: `project ".." is not registered`},
		{name: "a card here", args: "board show 3", prepare: canned, out: wholeCard},
		{name: "a card by its project", args: "board show shop/3", prepare: canned, out: wholeCard},
		{name: "a card by its reference", args: "board show board:shop/3", prepare: canned, out: wholeCard},
		{name: "a card as JSON", args: "board show 3 --json", prepare: canned, out: `{"card":{"project":"shop","number":3,`},
		{name: "a card that is not there", args: "board show 4", prepare: canned, code: 1, err: "not found"},
		{name: "a card that is none", args: "board show shop/x", code: 2, err: `"shop/x" is not a card: give its number, or PROJECT/NUMBER`},
		{name: "a card of two projects", args: "board show shop/3 --project other", code: 2, err: "card shop/3 is not one of project other"},
		{name: "history", args: "board history 3", prepare: canned, out: "" +
			"2026-03-04 10:00:00  human   created: Cart; to To Do; tagged Ready; described in 4 characters\n" +
			"2026-03-04 11:00:00  -       title: Basket; untagged Ready; claimed by a until 2026-03-04 13:00:00; said: first second\n" +
			"2026-03-04 11:30:00  engine  released by a\n"},
		{name: "history as JSON", args: "board history 3 --json", prepare: canned, out: `{"history":[{"seq":1,`},
		{name: "unknown", args: "board bogus", code: 2, err: `command "bogus" is not known: see orange board --help`},
	})
}

func TestBoardChanges(t *testing.T) {
	const path = "/v1/boards/shop/cards/3"
	canned := func(w *env) { w.answers[path], w.place.Project = changedAnswer, "shop" }
	refused := func(w *env) {
		w.fails[path] = task.Mistakef("tag \"Nope\" is not known on this board: use Ready")
	}
	typed := func(text string) func(*env) {
		return func(w *env) { canned(w); w.Stdin = strings.NewReader(text) }
	}
	tell(t, []story{
		{name: "tag", args: "board tag 3 Ready Planned --remove x --remove a,b", prepare: canned, out: "shop/3 has Ready, Planned\n",
			asked: []string{"POST " + path + ` {"add_tags":["Ready","Planned"],"remove_tags":["x","a,b"]}`}},
		{name: "tag as before", args: "board tag shop/3 Ready", prepare: func(w *env) { w.answers[path] = strings.Replace(changedAnswer, "true", "false", 1) }, out: "shop/3 has Ready, Planned, as before\n"},
		{name: "tag as JSON", args: "board tag 3 Ready --json", prepare: canned, out: `{"card":{"project":"shop","number":3,`},
		{name: "tag nothing", args: "board tag 3", code: 2, err: "name a tag, or give --remove", asked: []string{}},
		{name: "tag unknown", args: "board tag shop/3 Nope", prepare: refused, code: 1, err: "orange: board tag: tag \"Nope\" is not known on this board: use Ready\n"},
		{name: "tag no card", args: "board tag x Ready", code: 2, err: `"x" is not a card`, asked: []string{}},
		{name: "move", args: "board move 3 To Do", prepare: canned, out: "shop/3 is in To Do\n", asked: []string{"POST " + path + ` {"column":"To Do"}`}},
		{name: "move nowhere", args: "board|move|3| ", prepare: canned, code: 2, err: "name a column", asked: []string{}},
		{name: "comment", args: "board comment 3 Well done", prepare: canned, out: "shop/3 has a new comment\n", asked: []string{"POST " + path + ` {"comment":"Well done"}`}},
		{name: "comment from elsewhere", args: "board comment 3 -", prepare: typed("one\ntwo\n"), asked: []string{"POST " + path + ` {"comment":"one\ntwo"}`}},
		{name: "comment of nothing", args: "board comment 3 -", prepare: typed(" \n"), code: 2, err: "the comment is empty", asked: []string{}},
		{name: "comment without end", args: "board comment 3 -", prepare: typed(strings.Repeat("x", board.MaxComment+1)), code: 1, err: "longer than 64 KB", asked: []string{}},
		{name: "describe", args: "board describe 3 -", prepare: typed("one\n\n"), out: "shop/3 has this description\n", asked: []string{"POST " + path + ` {"description":"one"}`}},
		{name: "describe with nothing", args: "board|describe|3|", prepare: canned, asked: []string{"POST " + path + ` {"description":""}`}},
		{name: "describe without end", args: "board describe 3 -", prepare: typed(strings.Repeat("x", board.MaxDescription+1)), code: 1, err: "longer than 256 KB", asked: []string{}},
		{name: "describe with bytes", args: "board describe 3 -", prepare: typed("\xff"), code: 1, err: "not text", asked: []string{}},
		{name: "an agent", args: "board move 3 Done", prepare: func(w *env) { canned(w); inAttempt(w) }, code: 1, err: "an agent does not change the board: it says what it wants in its result", asked: []string{}},
		{name: "an agent that adds", args: "board add x", prepare: inAttempt, code: 1, err: "an agent does not change the board", asked: []string{}},
	})
}

func TestBoardAdd(t *testing.T) {
	const path = "/v1/boards/shop/cards"
	answer := func(rest string) func(*env) {
		return func(w *env) {
			w.answers[path] = `{"card":{"project":"shop","number":3,"title":"Sell\u001b[1m","column":"To Do","tags":[]}` + rest + `}`
			w.place.Project = "shop"
		}
	}
	tell(t, []story{
		{name: "with everything", args: "board|add|Sell|it|--column|Done|--tag|a|--tag|b,c|--description|text|--workflow|w|--branch|feat/sell|--harness|pi|--no-task", prepare: answer(""),
			out:   "Added card shop/3 (To Do): Sell\n",
			asked: []string{"POST " + path + ` {"title":"Sell it","column":"Done","tags":["a","b,c"],"description":"text","no_task":true,"workflow":"w","branch":"feat/sell","harness":"pi"}`}},
		{name: "with a task", args: "board add Sell", prepare: answer(`,"task":"` + idOne + `"`), out: "Added card shop/3 (To Do): Sell\nCreated task " + idOne + " for it\n",
			asked: []string{"POST " + path + ` {"title":"Sell"}`}},
		{name: "without the task that was wanted", args: "board add Sell", prepare: answer(`,"warning":"no\u001b[1m task"`), out: "Added card shop/3 (To Do): Sell\n", err: "orange: warning: no task\n"},
		{name: "as JSON", args: "board add Sell --json", prepare: answer(`,"task":"` + idOne + `"`), out: `{"card":{"project":"shop","number":3,`},
		{name: "described from elsewhere", args: "board add Sell --description -", prepare: func(w *env) { answer("")(w); w.Stdin = strings.NewReader("a\nb\n") },
			asked: []string{"POST " + path + ` {"title":"Sell","description":"a\nb"}`}},
		{name: "to a repository that is no project yet", args: "board add Sell", prepare: func(w *env) { answer("")(w); w.place.Project, w.place.GitRoot = "", "/src/shop" }, err: "orange: added project shop (/src/shop), 2 workspaces, workflow orange\n"},
		{name: "to a repository that is no project yet, with a workflow of one's own", args: "board add Sell", prepare: func(w *env) {
			answer("")(w)
			w.place.Project, w.place.GitRoot, w.Config.Workflow = "", "/src/shop", "joan-board"
		}, err: "2 workspaces, workflow joan-board\n"},
		{name: "to no repository", args: "board add Sell", code: 1, err: "is not a git repository: give --project"},
		{name: "without a title", args: "board add", code: 2, err: "0 arguments do not fit"},
	})
}
