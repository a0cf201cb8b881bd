package local_test

import (
	"context"
	"errors"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/runtime/local"
)

// failing performs no effect.
type failing struct{ tries atomic.Int32 }

// Perform implements local.Performer.
func (f *failing) Perform(context.Context, task.Task, task.Effect) (local.EffectResult, error) {
	f.tries.Add(1)
	return local.EffectResult{}, errors.New("it does not work")
}

// A retry is due. Before the schedule has written down when the task is due next, another signal makes the same effect fail
// again. The time of its next retry counts then, and not what the schedule read before.
func TestARetryIsNotOvertakenByAnOlderRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRelationsEnv(t, "solo")
		works, armed := &failing{}, new(atomic.Bool)
		var id task.ID
		f.anew(func(o *local.RuntimeOptions) {
			o.Performer = works
			o.Clock = func() time.Time {
				if armed.Load() {
					if stack := string(debug.Stack()); strings.Contains(stack, "nextDue") && strings.Contains(stack, "fireTimers") && armed.Swap(false) {
						f.update(id)
						synctest.Wait()
					}
				}
				return time.Now()
			}
		})
		id = f.begin(signal.New{})
		before := works.tries.Load()
		armed.Store(true)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if armed.Load() || before == 0 {
			t.Fatalf("after %d tries, the schedule did not get to the moment that this test is about", before)
		}
		reached := works.tries.Load()
		time.Sleep(time.Hour)
		synctest.Wait()
		if got := works.tries.Load(); got <= reached {
			t.Errorf("%d tries before, %d after another hour: it is not tried again", reached, got)
		}
	})
}

// update changes the summary of a task.
func (f *relationsEnv) update(id task.ID) {
	f.t.Helper()
	a, err := f.Submit(f.t.Context(), id, signal.Signal{Kind: signal.Update, Actor: task.Human, Fields: []signal.Field{{Name: "summary", To: "another"}}})
	if err != nil || a.Decision.Refused != "" {
		f.t.Error(err, a.Decision.Refused)
	}
}
