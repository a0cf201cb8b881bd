package explain_test

import (
	"testing"

	"orange/internal/core/explain"
	"orange/internal/core/task"
)

func TestAPoolInADeadlockIsInTheInbox(t *testing.T) {
	after := func(ids ...task.ID) (out []task.Predecessor) {
		for _, id := range ids {
			out = append(out, task.Predecessor{ID: id, State: task.PredecessorOpen})
		}
		return out
	}
	queued := explain.PoolTask{ID: "queued", Queued: true}
	lands := explain.PoolTask{ID: "lands", Holds: true, After: after("queued")}
	landed := lands
	landed.After = []task.Predecessor{{ID: "queued", State: task.PredecessorLanded}}
	works := explain.PoolTask{ID: "works", Holds: true, Works: true, After: after("queued")}
	for name, tt := range map[string]struct {
		size  int
		tasks []explain.PoolTask
		want  bool
	}{
		"the only workspace":                  {1, []explain.PoolTask{lands, queued}, true},
		"one is free":                         {2, []explain.PoolTask{lands, queued}, false},
		"one is at work":                      {2, []explain.PoolTask{lands, works, queued}, false},
		"nothing waits for a workspace":       {1, []explain.PoolTask{lands}, false},
		"it waits for nobody":                 {1, []explain.PoolTask{landed, queued}, false},
		"through work that lands":             {2, []explain.PoolTask{{ID: "last", Holds: true, After: after("lands")}, lands, queued}, true},
		"through a task that has not started": {1, []explain.PoolTask{{ID: "last", Holds: true, After: after("next")}, {ID: "next", Queued: true, After: after("queued")}, queued}, true},
		"it waits for another project":        {1, []explain.PoolTask{{ID: "last", Holds: true, After: after("elsewhere")}, queued}, false},
		"what is queued waits for another":    {1, []explain.PoolTask{lands, {ID: "queued", Queued: true, After: after("elsewhere")}}, false},
	} {
		items := explain.PoolItems("shop", tt.size, tt.tasks)
		if got := len(items) == 1; got != tt.want {
			t.Errorf("%s: %+v", name, items)
		}
		if tt.want && (items[0].Kind != explain.ItemPool || items[0].Action.Size != tt.size+1) {
			t.Errorf("%s: %+v", name, items)
		}
	}
}
