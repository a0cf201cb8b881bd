package notifier_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/explain"
	"orange/internal/core/task"
	"orange/internal/runtime/notifier"
)

func same(t *testing.T, want, got []string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Helper()
		t.Error(diff)
	}
}

func TestAnItemIsAnnouncedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newEnv(t)
		e := r.way("one")
		r.start()
		r.store.write(atWork("a"))
		after(10 * time.Second)
		r.store.write(asks("a", "rm -r build?"))
		after(time.Second)
		same(t, nil, e.all()) // it has not settled
		if !r.h.Busy() {
			t.Error("a server that leaves now would not announce it")
		}
		after(5 * time.Second)
		same(t, []string{"permission a"}, e.all())
		if r.h.Busy() {
			t.Error("it is still busy")
		}
		was, _, _ := r.store.Task("a")
		for range 20 { // something else changes
			was.Counters = append(was.Counters, task.Counter{Name: "x"})
			r.store.write(was)
			after(3 * time.Second)
		}
		same(t, []string{"permission a"}, e.all())
		r.store.write(asks("a", "rm -r build?")) // the same words, later
		after(10 * time.Second)
		same(t, []string{"permission a", "permission a"}, e.all())
		if e.ids[0] == e.ids[1] {
			t.Error("two questions have one id")
		}
		r.stop()
	})
}

func TestAttentionIsTheSameWhateverElseIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newEnv(t)
		e := r.way("one")
		r.start()
		for range 5 {
			r.store.write(broken("a", "push failed")) // its moment is that of the last entry
			after(10 * time.Second)
		}
		same(t, []string{"attention a"}, e.all())
		r.store.write(broken("a", "merge failed"))
		after(10 * time.Second)
		same(t, []string{"attention a", "attention a"}, e.all())
		r.stop()
	})
}

func TestAnItemThatDisappearsImmediatelyIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newEnv(t)
		e := r.way("one")
		r.start()
		for range 5 {
			r.store.write(asks("a", "?"))
			after(1500 * time.Millisecond)
			r.store.write(atWork("a"))
			after(10 * time.Second)
		}
		for i := range 20 { // never the same for two seconds
			r.store.write(asks("b", fmt.Sprint(i)))
			after(time.Second)
		}
		same(t, nil, e.all())
		after(10 * time.Second)
		same(t, []string{"permission b"}, e.all())
		r.stop()
	})
}

func TestAnItemThatVanishedAndCameAgainIsNew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newEnv(t)
		e := r.way("one")
		r.start()
		r.store.write(broken("a", "push failed"))
		after(10 * time.Second)
		r.store.write(atWork("a"))
		after(10 * time.Second)
		if got := r.store.notices["a"]; got != "" {
			t.Errorf("%q is kept", got)
		}
		r.store.write(broken("a", "push failed"))
		after(10 * time.Second)
		same(t, []string{"attention a", "attention a"}, e.all())
		gone := broken("a", "push failed")
		gone.Deleted = true
		r.store.write(gone)
		after(10 * time.Second)
		if len(r.store.notices) != 0 {
			t.Errorf("of a deleted task is kept: %v", r.store.notices)
		}
		r.stop()
	})
}

func TestTheFirstStartAnnouncesNothingOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newEnv(t)
		e := r.way("one")
		old := asks("a", "?")
		r.store.write(old)
		r.store.write(atWork("b"))
		after(time.Hour)
		r.start()
		after(time.Minute)
		r.store.write(old) // it is written to, and asks the same
		after(time.Minute)
		same(t, nil, e.all())
		r.store.write(asks("b", "?"))
		after(time.Minute)
		same(t, []string{"permission b"}, e.all())
		r.stop()
	})
}

func TestALateSubscriberGetsNewItems(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newEnv(t)
		r.way("one")
		r.start()
		after(time.Minute)
		r.stop()
		ways := r.ways
		r.ways = nil // nobody is configured any more
		r.start()
		r.stop()
		r.store.write(asks("a", "?"))
		r.ways = ways
		e := r.way("two")
		r.start()
		after(time.Minute)
		same(t, nil, e.all())
		r.stop()
	})
}

func TestARestartAnnouncesWhatCameInBetweenAndNothingTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newEnv(t)
		e := r.way("one")
		r.start()
		r.store.write(asks("a", "?"))
		after(time.Minute)
		r.stop()
		r.store.write(asks("b", "?"))
		for range 3 {
			r.start()
			after(time.Minute)
			r.stop()
		}
		same(t, []string{"permission a", "permission b"}, e.all())
		r.store.write(asks("c", "?"))
		r.start()
		after(time.Second) // it stops before the item has settled
		r.stop()
		same(t, []string{"permission a", "permission b"}, e.all())
		r.start()
		after(time.Minute)
		same(t, []string{"permission a", "permission b", "permission c"}, e.all())
		r.stop()
	})
}

func TestAKillBetweenSendingAndRecordingSendsTwiceUnderOneID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newEnv(t)
		e := r.way("one")
		e.fail = func(n int) error {
			r.store.kill(n == 1)
			return nil
		}
		r.start()
		r.store.write(atWork("a"))
		after(time.Minute)
		r.store.write(asks("a", "?"))
		after(time.Minute)
		r.stop()
		r.store.kill(false)
		r.start()
		after(time.Minute)
		r.stop()
		if len(e.ids) != 2 || e.ids[0] != e.ids[1] {
			t.Errorf("told as %q", e.ids)
		}
		r.start()
		after(time.Minute)
		r.stop()
		same(t, []string{"permission a", "permission a"}, e.all())
	})
}

func TestTheNextServerSendsPendingNotifications(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newEnv(t)
		up, down := r.way("up"), r.way("down", remote)
		down.fail = func(int) error { return errors.New("no route") }
		r.start()
		r.store.write(asks("a", "?"))
		after(20 * time.Second)
		for i := range 1000 { // the cursor does not run away from it
			r.store.write(atWork(fmt.Sprint("other", i)))
		}
		after(20 * time.Second)
		if !r.h.Busy() {
			t.Error("a server that leaves now owes something")
		}
		r.stop()
		down.fail = nil
		r.start()
		after(20 * time.Second)
		r.stop()
		same(t, []string{"permission a"}, up.all())
		same(t, []string{"permission a"}, down.all())
	})
}

func TestOneWayThatIsDownHoldsUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newEnv(t)
		slow, down, up := r.way("slow", remote), r.way("down", remote), r.way("up")
		slow.hold = make(chan struct{})
		down.fail = func(int) error { return errors.New("503") }
		r.start()
		var want []string
		for i := range 10 {
			id := fmt.Sprint("t", i)
			r.store.write(asks(id, "?"))
			after(5 * time.Second)
			want = append(want, "permission "+id)
		}
		same(t, want, up.all())
		close(slow.hold)
		after(time.Second)
		same(t, want, slow.all())
		after(30 * time.Minute)
		if r.h.Busy() {
			t.Error("it tries for ever")
		}
		same(t, nil, down.all())
		if n := len(down.tries); n < 5 || n > 12 {
			t.Errorf("%d tries: %v", n, down.tries)
		}
		if last := r.results[len(r.results)-1]; last.Channel != "down" || last.Problem != "503" || !last.GaveUp {
			t.Errorf("reported was %+v", last)
		}
		r.stop()
		r.start() // what was given up is over
		after(time.Minute)
		r.stop()
		same(t, nil, down.all())
	})
}

// forGood is an error that trying again does not mend.
type forGood struct{}

func (forGood) Error() string   { return "400" }
func (forGood) IsLasting() bool { return true }

func TestTries(t *testing.T) {
	tests := map[string]struct {
		change []func(*notifier.Channel)
		fail   func(n int) error
		tries  int
		heard  []string
	}{
		"a remote one that fails three times": {[]func(*notifier.Channel){remote}, func(n int) error {
			if n <= 3 {
				return errors.New("500")
			}
			return nil
		}, 4, []string{"permission a"}},
		"a remote one that refuses":        {[]func(*notifier.Channel){remote}, func(int) error { return fmt.Errorf("it: %w", forGood{}) }, 1, nil},
		"one of this machine that fails":   {nil, func(int) error { return errors.New("no desktop") }, 1, nil},
		"a remote one that is never there": {[]func(*notifier.Channel){remote}, func(int) error { return errors.New("500") }, 7, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newEnv(t)
				e := r.way("one", tt.change...)
				e.fail = tt.fail
				r.start()
				r.store.write(asks("a", "?"))
				after(time.Hour)
				if n := len(e.tries); n < tt.tries || n > tt.tries+tt.tries/4 {
					t.Errorf("%d tries, not %d: %v", n, tt.tries, e.tries)
				}
				same(t, tt.heard, e.all())
				if r.h.Busy() {
					t.Error("it is still busy")
				}
				r.stop()
			})
		})
	}
}

func TestAnAnsweredItemIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newEnv(t)
		e := r.way("one", remote)
		e.fail = func(n int) error {
			if n < 3 {
				return errors.New("500")
			}
			return nil
		}
		r.start()
		r.store.write(asks("a", "?"))
		after(6 * time.Second)
		r.store.write(atWork("a"))
		after(time.Hour)
		same(t, nil, e.all())
		if r.h.Busy() {
			t.Error("it is still busy")
		}
		r.stop()
	})
}

func TestChannelsGetTheirKinds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newEnv(t)
		kind := r.way("kind", func(w *notifier.Channel) {
			w.Wants = func(it explain.Item) bool { return it.Kind == explain.ItemAttention }
		})
		project := r.way("project", func(w *notifier.Channel) { w.Wants = func(it explain.Item) bool { return it.Project == "other" } })
		r.start()
		r.store.write(asks("a", "?"))
		r.store.write(broken("b", "?"))
		c := asks("c", "?")
		c.Project = "other"
		r.store.write(c)
		after(time.Minute)
		same(t, []string{"attention b"}, kind.all())
		same(t, []string{"permission c"}, project.all())
		r.stop()
	})
}

func TestATaskWithAMissingWorkflowNeedsAttention(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newEnv(t)
		e := r.way("one")
		r.start()
		lost := atWork("a")
		lost.Workflow = "gone"
		r.store.write(lost)
		after(time.Minute)
		same(t, []string{"attention a"}, e.all())
		r.stop()
	})
}

func TestManyItemsAreSentAsOneMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newEnv(t)
		person, program := r.way("person", func(w *notifier.Channel) { w.Several = 5 }), r.way("program")
		r.start()
		var want []string
		for i := range 200 {
			r.store.write(broken(fmt.Sprintf("t%03d", i), "the limit is reached"))
			want = append(want, fmt.Sprintf("attention t%03d", i))
		}
		after(time.Minute)
		for name, e := range map[string]*recipient{"person": person, "program": program} {
			got := e.all()
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
		if len(person.ids) > 3 || program.most != 1 {
			t.Errorf("a person heard %d messages, a program %d at once", len(person.ids), program.most)
		}
		r.stop()
	})
}

// A thousand entries a second, of tasks of which some want somebody for a while.
func TestABurstIsReadInFewReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newEnv(t)
		e := r.way("one")
		r.start()
		const seconds, tasks = 60, 50
		for i := range seconds * 1000 {
			id := fmt.Sprint("t", i%tasks)
			r.store.write(broken(id, "push failed"))
			time.Sleep(time.Millisecond)
		}
		after(10 * time.Second)
		if got := e.all(); len(got) != tasks {
			t.Errorf("%d announcements of %d", len(got), tasks)
		}
		if limit := 3 * seconds; r.store.follows > 2*limit+200 {
			t.Errorf("the journal was read %d times in %d seconds", r.store.follows, seconds)
		}
		if limit := (2*seconds + 20) * tasks; r.store.reads > limit {
			t.Errorf("%d tasks were read, more than %d", r.store.reads, limit)
		}
		if limit := 2*tasks + seconds; r.store.writes > limit {
			t.Errorf("%d writes, more than %d", r.store.writes, limit)
		}
		r.stop()
	})
}

func TestAServerThatLeavesLetsWhatIsUnderWayArrive(t *testing.T) {
	tests := map[string]struct {
		takes time.Duration
		heard []string
	}{
		"a moment": {time.Second, []string{"permission a"}},
		"too long": {time.Minute, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newEnv(t)
				e := r.way("one", remote)
				began := make(chan struct{}, 1)
				tell := r.ways[0].Deliver
				r.ways[0].Deliver = func(ctx context.Context, id string, items []explain.Item) error {
					began <- struct{}{}
					select {
					case <-ctx.Done():
						return ctx.Err()
					case <-time.After(tt.takes):
					}
					return tell(ctx, id, items)
				}
				r.start()
				r.store.write(asks("a", "?"))
				<-began
				r.stop()
				same(t, tt.heard, e.all())
				owes := strings.Contains(r.store.notices["a"], " one")
				if owes == (len(tt.heard) > 0) {
					t.Errorf("kept is %q", r.store.notices["a"])
				}
			})
		})
	}
}

func TestAnAgentWhoseTurnEndedIsGivenTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newEnv(t)
		e := r.way("one")
		r.start()
		stopped := ended("a")
		r.store.write(stopped)
		after(20 * time.Second)
		r.store.write(stopped) // something else of it changes
		after(9 * time.Second)
		same(t, nil, e.all())
		after(3 * time.Second)
		same(t, []string{"idle a"}, e.all())

		r.store.write(atWork("a"))
		after(5 * time.Second)
		r.store.write(ended("a"))
		after(10 * time.Second)
		r.store.write(atWork("a")) // somebody answered it at its terminal
		after(time.Minute)
		same(t, []string{"idle a"}, e.all())

		r.store.write(ended("a"))
		after(5 * time.Second)
		r.store.write(asks("a", "rm -r build?")) // what presses more does not wait for it
		after(5 * time.Second)
		same(t, []string{"idle a", "permission a"}, e.all())
	})
}
