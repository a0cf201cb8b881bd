package api_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	diffs "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/view/overview"
)

// look asks for a state.
func (r *env) look(query string) overview.State {
	r.t.Helper()
	got := r.ask("GET", "/v1/state"+query, "")
	if got.status != http.StatusOK {
		r.t.Fatalf("%s: %d %s", query, got.status, got.text)
	}
	var out overview.State
	must(r.t, json.Unmarshal([]byte(got.text), &out))
	return out
}

// steady asks for a state while nothing is committed.
func (r *env) steady(query string) overview.State {
	r.t.Helper()
	for {
		before, err := r.store.LastRow()
		must(r.t, err)
		out := r.look(query)
		if after, err := r.store.LastRow(); err == nil && after == before {
			return out
		}
	}
}

// same compares what states say, whenever they were made and in whatever order.
func same(a, b overview.State) string {
	bare := func(s overview.State) overview.State {
		s.At, s.Row, s.Tasks = time.Time{}, 0, slices.Clone(s.Tasks)
		slices.SortFunc(s.Tasks, func(a, b overview.Row) int { return cmp.Compare(a.ID, b.ID) })
		return s
	}
	return diffs.Diff(bare(a), bare(b))
}

func names(s overview.State) string {
	var out []string
	for _, row := range s.Tasks {
		out = append(out, row.Branch)
	}
	return strings.Join(out, " ")
}

func TestAStateIsEverythingAtOneMoment(t *testing.T) {
	r := open(t)
	must(t, r.runtime.AddProject(task.Project{Name: "q", Path: "/q", PoolSize: 1}))
	r.create("a")
	over := r.create("b")
	r.update(over, 1)
	if got := r.ask("POST", "/v1/tasks", `{"project":"q","branch":"c","summary":"s"}`); got.status != http.StatusOK {
		t.Fatal(got.text)
	}
	if got := r.ask("POST", "/v1/tasks/"+over+"/signals", `{"kind":"request","verb":"cancel"}`); got.status != http.StatusOK {
		t.Fatal(got.text)
	}
	r.settle()
	for query, want := range map[string]string{"": "a c", "?all=1": "a b c", "?project=p": "a", "?project=p&all=1": "a b", "?all=recent": "a b c", "?project=p&all=recent": "a b", "?project=q": "c", "?project=nope": "", "?all=0": "a c"} {
		if got := r.steady(query); names(got) != want || len(got.Projects) != 2 || got.Version != "1.2.3" || got.Paused || got.At.IsZero() {
			t.Errorf("%s: %s, %+v", query, names(got), got)
		}
	}
	if got := r.ask("GET", "/v1/state?project=nope", ""); !strings.HasSuffix(got.text, `"tasks":[]}`+"\n") {
		t.Errorf("%s", got.text)
	}
	last, err := r.store.LastRow()
	must(t, err)
	for _, query := range []string{"?", "?all=1&", "?all=recent&", "?project=p&", "?project=p&all=1&"} {
		now, then := r.steady(query), r.steady(fmt.Sprintf("%sat=%d", query, last))
		if diff := same(now, then); diff != "" || then.Row != last || now.Row != last {
			t.Errorf("%s row %d: %s", query, then.Row, diff)
		}
		if later := r.steady(fmt.Sprintf("%sat=%d", query, last+1000)); later.Row != last || same(later, then) != "" {
			t.Errorf("%s: after the end it is row %d", query, later.Row)
		}
	}
	if got := r.look("?at=2&all=1"); names(got) != "a b" || got.Tasks[1].Summary != "s" || got.Tasks[1].Status != "pending" {
		t.Errorf("%+v", got)
	}
}

func TestABadMomentIsAMistake(t *testing.T) {
	r := open(t)
	for _, at := range []string{"0", "-1", "x", "1.5", "99999999999999999999", "1%20"} {
		r.ask("GET", "/v1/state?at="+at, "").refused(t, http.StatusBadRequest, "is not a row of the journal: give a number above 0")
	}
	r.ask("GET", "/v1/state/events?at=1", "").refused(t, http.StatusBadRequest, "selects a past state")
	r.ask("GET", "/v1/state/events?at=x", "").refused(t, http.StatusBadRequest, "is not a row")
	r.ask("GET", "/v1/state/events?after=x", "").refused(t, http.StatusBadRequest, "is not a row")
	r.ask("GET", "/v1/state/events?after=1", "").refused(t, http.StatusBadRequest, "row 1 is not in this journal, which ends at 0: ask for the state again")
	if got := r.look("?at=1"); got.Row != 0 || len(got.Tasks) != 0 {
		t.Errorf("a journal without rows: %+v", got)
	}
}

// history does things to tasks at random.
type history struct {
	r   *env
	ids []task.ID
	n   int
}

func (h *history) submit(sig signal.Signal, id task.ID) {
	if _, err := h.r.runtime.Submit(h.r.t.Context(), id, sig); err != nil {
		h.r.t.Fatal(err)
	}
}

// step does one thing. What is refused changes nothing, which is fine.
func (h *history) step(t *rapid.T) {
	h.n++
	what := rapid.IntRange(0, 9).Draw(t, "what")
	if len(h.ids) == 0 || what <= 1 {
		project := rapid.SampledFrom([]string{"p", "q"}).Draw(t, "project")
		a, err := h.r.runtime.Create(h.r.t.Context(), signal.NewTask{Actor: task.Human, New: signal.New{Project: project, Branch: fmt.Sprint("b", h.n), Summary: "s", Spawn: what == 1}})
		must(h.r.t, err)
		h.ids = append(h.ids, a.Task.ID)
		return
	}
	id := rapid.SampledFrom(h.ids).Draw(t, "task")
	switch what {
	case 2, 3, 4:
		h.submit(signal.Signal{Kind: signal.Update, Actor: task.Human, Fields: []signal.Field{{Name: "summary", To: fmt.Sprint("n", h.n)}}}, id)
	case 5:
		h.submit(signal.Signal{Kind: signal.Pause, Actor: task.Human}, id)
	case 6:
		h.submit(signal.Signal{Kind: signal.Resume, Actor: task.Human}, id)
	case 7:
		h.submit(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: "cancel"}, id)
	case 8:
		h.submit(signal.Signal{Kind: signal.Delete, Actor: task.Human}, id)
	case 9:
		h.submit(signal.Signal{Kind: signal.Exit, Actor: task.Engine, Role: "worker", Attempt: 1, Code: 1}, id)
	}
}

// TestThePastIsWhatItWas compares every state that was seen with what the journal makes
// of it afterwards.
func TestThePastIsWhatItWas(t *testing.T) {
	t.Parallel()
	r := open(t)
	must(t, r.runtime.AddProject(task.Project{Name: "q", Path: "/q", PoolSize: 2}))
	h := history{r: r}
	queries := []string{"?", "?all=1&", "?project=q&"}
	seen := map[int64][]overview.State{}
	rapid.Check(t, func(rt *rapid.T) { // one long history
		h.step(rt)
		var at []overview.State
		for _, q := range queries {
			at = append(at, r.steady(q))
		}
		if at[0].Row == at[2].Row && at[0].Row == at[1].Row {
			seen[at[0].Row] = at
		}
	})
	for row, states := range seen {
		i := int(row) % len(queries)
		if diff := same(states[i], r.look(fmt.Sprintf("%sat=%d", queries[i], row))); diff != "" {
			t.Fatalf("%s row %d: %s", queries[i], row, diff)
		}
	}
	least := 20
	if testing.Short() { // rapid takes a fifth of the steps
		least = 4
	}
	if len(seen) < least {
		t.Errorf("only %d states were compared, not %d", len(seen), least)
	}
}
