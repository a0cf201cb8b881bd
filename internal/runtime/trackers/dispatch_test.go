package trackers_test

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/tracker"
)

// begins lists the issues that a round begins, in order, and why the others wait.
func (r *env) begins(dry bool) (keys []string, waits map[string]string) {
	r.t.Helper()
	round, err := r.service.Dispatch(r.t.Context(), "lin", dry)
	check(r.t, err)
	synctest.Wait()
	waits = map[string]string{}
	for _, c := range round.Choices {
		if c.Dispatch {
			keys = append(keys, c.Key)
		} else {
			waits[c.Key] = c.Reason
		}
	}
	return keys, waits
}

func (r *env) wants(keys []string, got []string) {
	r.t.Helper()
	if diff := cmp.Diff(keys, got); diff != "" {
		r.t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestARoundTakesWhatIsNext(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		for _, key := range []string{"held", "odd", "blocked", "free", "second", "first", "late", "elsewhere"} {
			r.hub.file(key, nil)
			time.Sleep(time.Minute)
		}
		r.hub.say("held", "alice", "HOLD - not now")
		r.hub.say("free", "mallory", "HOLD")
		r.hub.change("odd", func(is *tracker.Issue) { is.Card.Author = "mallory"; is.Priority = tracker.Urgent })
		r.hub.change("blocked", func(is *tracker.Issue) {
			is.BlockedBy, is.Priority = []tracker.Link{{Key: "X-1"}, {Key: "X-2", Closed: true}}, tracker.Urgent
		})
		r.hub.change("free", func(is *tracker.Issue) { is.BlockedBy = []tracker.Link{{Key: "X-2", Closed: true}} })
		r.hub.change("second", func(is *tracker.Issue) { is.Priority = tracker.High })
		r.hub.say("first", "alice", "PRIORITY URGENT")
		r.hub.say("late", "mallory", "PRIORITY URGENT")
		r.hub.move("elsewhere", "Icebox")
		dry, _ := r.begins(true)
		r.wants([]string{"first", "second", "free"}, dry)
		if len(r.all("first")) > 0 {
			t.Fatal("a dry round makes tasks")
		}
		keys, waits := r.begins(false)
		r.wants(dry, keys)
		want := map[string]string{
			"held": "held by alice: not now", "odd": `its author "mallory" is not allowed: orange tracker add --author`, "blocked": "blocked by X-1", "late": "the limit of tasks is reached (--max)",
		}
		if diff := cmp.Diff(want, waits); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		if keys, waits = r.begins(false); len(keys) > 0 || waits["late"] != "the limit of tasks is reached (--max)" {
			t.Errorf("%v, %v", keys, waits)
		}
		r.submit("second", signal.Signal{Kind: signal.Request, Verb: "cancel"})
		keys, _ = r.begins(false)
		r.wants([]string{"late"}, keys)
	})
}

func TestWithoutAListOfAuthorsEverybodysIssuesAreTaken(t *testing.T) {
	cfg := linear()
	cfg.Authors, cfg.Max = nil, 0
	inBubble(t, cfg, func(t *testing.T, r *env) {
		for n := range 5 {
			r.hub.file(fmt.Sprint("E-", n), func(is *tracker.Issue) { is.Card.Author = "somebody" })
			r.hub.say(fmt.Sprint("E-", n), "somebody", "HOLD") // and nobody's orders
			time.Sleep(time.Second)
		}
		keys, _ := r.begins(false)
		r.wants([]string{"E-0", "E-1", "E-2"}, keys) // three in parallel is the default
	})
}

func TestOneTaskForAnIssueHoweverManyDispatch(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		r.hub.file("ENG-1", nil)
		r.hub.file("ENG-2", nil)
		r.sync()
		other := r.newOffice() // as if another server did it too
		defer other.Close()
		var all sync.WaitGroup
		for n := range 8 {
			office := r.service
			if n%2 == 1 {
				office = other
			}
			all.Go(func() {
				if _, err := office.Dispatch(t.Context(), "lin", false); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		synctest.Wait()
		for _, key := range []string{"ENG-1", "ENG-2"} {
			if n := len(r.all(key)); n != 1 {
				t.Errorf("%s has %d tasks", key, n)
			}
			r.is(key, "Started", "Started")
		}
	})
}

// Another server makes a task of the second issue while this one is at the first.
func TestAnIssueThatSomebodyBeganMeanwhileHasATask(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		r.hub.file("ENG-1", nil)
		r.hub.file("ENG-2", nil)
		other := r.newOffice()
		defer other.Close()
		began := false
		r.tasks.before = func(w signal.NewTask) error {
			if w.TrackerRef == "lin:ENG-1" && !began {
				began = true
				if _, err := other.Dispatch(t.Context(), "lin", false); err != nil {
					t.Error(err)
				}
			}
			return nil
		}
		choices := r.dispatch()
		for _, key := range []string{"ENG-1", "ENG-2"} {
			if n := len(r.all(key)); n != 1 {
				t.Errorf("%s has %d tasks", key, n)
			}
			if c := choices[key]; !c.Dispatch || c.Task != string(r.of(key).ID) {
				t.Errorf("%+v", c)
			}
		}
	})
}

func TestATrackerIsPolledOnceAtATime(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		r.hub.file("ENG-1", nil)
		r.hub.file("ENG-2", nil)
		var second sync.WaitGroup
		tried, rounds, most := false, 0, 0
		r.tasks.before = func(signal.NewTask) error {
			rounds++
			most = max(most, rounds)
			if !tried {
				tried = true
				if _, err := r.service.Test(t.Context(), "lin"); err != nil {
					t.Error(err)
				}
				second.Go(func() {
					if _, err := r.service.Dispatch(t.Context(), "lin", false); err != nil {
						t.Error(err)
					}
				})
				for range 1000 {
					runtime.Gosched() // it has every chance to begin
				}
			}
			rounds--
			return nil
		}
		r.dispatch()
		second.Wait()
		synctest.Wait()
		if len(r.all("ENG-1")) != 1 || len(r.all("ENG-2")) != 1 || most != 1 {
			t.Errorf("%d and %d tasks, %d rounds at once", len(r.all("ENG-1")), len(r.all("ENG-2")), most)
		}
	})
}

func TestACrashBetweenLeaseAndTask(t *testing.T) {
	for name, when := range map[string]bool{"before it is made": true, "after it is made": false} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, linear(), func(t *testing.T, r *env) {
				r.hub.file("ENG-1", nil)
				now := time.Now()
				ok, err := r.store.TakeLease("lin:ENG-1", "dispatch/gone", now.Add(2*time.Minute), now)
				if !ok || err != nil {
					t.Fatal(ok, err)
				}
				if keys, waits := r.begins(false); len(keys) > 0 || waits["ENG-1"] != "no task could be created: another process is creating one" {
					t.Errorf("%v, %v", keys, waits)
				}
				time.Sleep(2 * time.Minute) // who took it is gone
				crash := errors.New("the power is gone")
				r.tasks.before = func(w signal.NewTask) error {
					if !when {
						if _, err := r.tasks.Runtime.Create(t.Context(), w); err != nil {
							return err
						}
					}
					return crash
				}
				r.begins(false)
				r.tasks.before = nil
				r.begins(false)
				r.begins(false)
				if n := len(r.all("ENG-1")); n != 1 {
					t.Errorf("%d tasks", n)
				}
			})
		})
	}
}

func TestAnIssueThatIsSentBackGetsASecondTaskOnce(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		r.begun("ENG-1", "Started")
		r.submit("ENG-1", signal.Signal{Kind: signal.Request, Verb: "cancel"})
		r.is("ENG-1", "Canceled", "Canceled")
		for range 2 {
			if keys, _ := r.begins(false); len(keys) > 0 {
				t.Errorf("begun again: %v", keys)
			}
		}
		r.hub.move("ENG-1", "Backlog")
		for range 3 {
			r.begins(false)
		}
		list := r.all("ENG-1")
		if len(list) != 2 || list[0].ID == list[1].ID || list[1].Branch == list[0].Branch && list[0].Status != "Canceled" {
			t.Fatalf("%d tasks: %+v", len(list), list)
		}
		r.is("ENG-1", "Started", "Started")
		if d, err := r.service.Drifts(); err != nil || len(d) > 0 {
			t.Errorf("the first one drifts: %+v, %v", d, err)
		}
		if got := r.service.IssueStatus(&list[0]); got.Want != "" {
			t.Errorf("the issue of a task that is over is wanted elsewhere: %+v", got)
		}
	})
}

func TestATaskThatIsReopenedIsTheOneAtWork(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		r.begun("ENG-1", "Started")
		r.submit("ENG-1", signal.Signal{Kind: signal.Request, Verb: "cancel"})
		r.hub.move("ENG-1", "Backlog")
		r.sync() // it is known to be back, and a person is faster than the dispatcher
		r.submit("ENG-1", signal.Signal{Kind: signal.Request, Verb: "reopen"})
		if keys, _ := r.begins(false); len(keys) > 0 || len(r.all("ENG-1")) != 1 {
			t.Errorf("%v, %d tasks", keys, len(r.all("ENG-1")))
		}
	})
}

// What Orange itself moves to its end is not sent back by that.
func TestNewsOfOrangesOwnMoveSendNothingBack(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		r.begun("ENG-1", "Started")
		r.submit("ENG-1", signal.Signal{Kind: signal.Request, Verb: "cancel"})
		is, _, err := r.store.KeptIssue("lin", "ENG-1")
		check(t, err)
		is.Card.Column, is.ReadAt = "Started", time.Now() // as if the news came before it was kept
		_, err = r.store.KeepIssue("lin", is)
		check(t, err)
		check(t, r.service.HandleWebhook(t.Context(), "lin", signed("d1"), []byte("ENG-1")))
		back, err := r.store.HasActed("lin:ENG-1", "back/"+string(r.of("ENG-1").ID))
		if back || err != nil {
			t.Errorf("sent back: %v, %v", back, err)
		}
	})
}

func TestAParentWaitsForItsParts(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		r.hub.file("PART-1", func(is *tracker.Issue) { is.Parent, is.Priority = "WHOLE", tracker.Urgent })
		r.hub.file("PART-2", func(is *tracker.Issue) { is.Parent = "WHOLE" })
		time.Sleep(time.Minute)
		r.hub.file("WHOLE", nil)
		keys, _ := r.begins(false)
		r.wants([]string{"WHOLE", "PART-1", "PART-2"}, keys)
		whole := r.of("WHOLE")
		for _, key := range []string{"PART-1", "PART-2"} {
			if got := r.of(key); got.Parent != whole.ID || got.Status != "Started" {
				t.Errorf("%s is %s, a part of %q", key, got.Status, got.Parent)
			}
		}
		r.is("WHOLE", "Coordinating", "Started")
	})
}

// A parent is not developed itself while its parts wait for somebody.
func TestAParentWithHeldChildrenIsNotPolled(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		r.hub.file("WHOLE", nil)
		r.hub.file("PART", func(is *tracker.Issue) { is.Parent = "WHOLE" })
		r.hub.say("PART", "alice", "HOLD")
		r.begins(false)
		r.is("WHOLE", "Backlog", "Backlog")
		time.Sleep(time.Minute)
		r.hub.say("PART", "alice", "RESUME")
		r.begins(false)
		if r.of("PART").Parent != r.of("WHOLE").ID {
			t.Errorf("%+v", r.of("PART"))
		}
		r.is("WHOLE", "Coordinating", "Started")
	})
}

func TestAParentThatWasMadeBeforeACrashWakesUp(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		r.hub.file("WHOLE", nil)
		r.hub.file("PART", func(is *tracker.Issue) { is.Parent = "WHOLE" })
		r.tasks.hears = func(sig signal.Signal) error {
			if sig.Kind == signal.Ready {
				return errors.New("the power is gone")
			}
			return nil
		}
		if _, err := r.service.Dispatch(t.Context(), "lin", false); err == nil {
			t.Error("no error")
		}
		r.tasks.hears = nil
		synctest.Wait()
		r.is("WHOLE", "Backlog", "Backlog")
		r.begins(false)
		r.is("WHOLE", "Coordinating", "Started")
	})
}

func TestAPartWhoseWholeIsOverIsATaskOfItsOwn(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		r.begun("WHOLE", "Started")
		r.submit("WHOLE", signal.Signal{Kind: signal.Request, Verb: "cancel"})
		r.hub.file("PART", func(is *tracker.Issue) { is.Parent = "WHOLE" })
		keys, waits := r.begins(false)
		if len(keys) != 1 || r.of("PART").Parent != "" {
			t.Errorf("%v, %v", keys, waits)
		}
	})
}

func TestEligibleColumns(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*tracker.Config)
		column string
	}{
		"configured":            {func(c *tracker.Config) { c.Eligible = []string{"Todo", "Icebox"} }, "Todo"},
		"the first one renamed": {func(c *tracker.Config) { c.Columns = map[string]string{"Backlog": "Todo"} }, "Todo"},
		"as the workflow says":  {func(*tracker.Config) {}, "Backlog"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := linear()
			tt.change(&cfg)
			inBubble(t, cfg, func(t *testing.T, r *env) {
				for n, column := range []string{"Backlog", "Todo", "Started"} {
					r.hub.file(fmt.Sprint("E-", n), func(is *tracker.Issue) { is.Card.Column = column })
				}
				keys, _ := r.begins(false)
				if len(keys) != 1 || r.tasks.wishes[0].TrackerRef != "lin:E-"+map[string]string{"Backlog": "0", "Todo": "1"}[tt.column] {
					t.Errorf("%v", keys)
				}
				if d := r.sync().Drift; len(d) > 0 {
					t.Errorf("drift: %+v", d)
				}
			})
		})
	}
}

func TestAnIssueThatIsGoneOrMovedMeanwhile(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		r.hub.file("GONE", nil)
		r.hub.file("MOVED", nil)
		r.hub.faults(func(op, key string) error {
			if op == "issue" && key == "GONE" {
				r.hub.issues = slices.DeleteFunc(r.hub.issues, func(is *tracker.Issue) bool { return is.Key == key })
			}
			if op == "issue" && key == "MOVED" {
				r.hub.find(key).Card.Column = "Icebox"
			}
			return nil
		}, nil)
		keys, waits := r.begins(false)
		if len(keys) > 0 || len(waits) != 1 || waits["MOVED"] != "it was moved to Icebox meanwhile" {
			t.Errorf("%v, %v", keys, waits)
		}
	})
}

// Nobody knows who holds back an issue that was not read, nor whose it is.
func TestWhatARoundDoesNotReadItDoesNotBegin(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		for n := range 120 {
			r.hub.file(fmt.Sprintf("E-%03d", n), func(is *tracker.Issue) { is.Card.Author = "mallory" })
		}
		r.hub.file("LAST", func(is *tracker.Issue) { is.Priority = tracker.Urgent })
		keys, waits := r.begins(false)
		r.wants([]string{"LAST"}, keys)
		unread := 0
		for _, why := range waits {
			if why == "100 issues are read before it" {
				unread++
			}
		}
		if unread != 21 || r.hub.asked("issue") > 110 {
			t.Errorf("%d were not read", unread)
		}
	})
}

func TestATaskThatCannotBeMade(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		r.hub.file("E-1", nil)
		r.hub.file("E-2", nil)
		r.tasks.before = func(w signal.NewTask) error {
			if strings.HasSuffix(w.TrackerRef, "1") {
				return errors.New("no\nspace left")
			}
			return nil
		}
		keys, waits := r.begins(false)
		r.wants([]string{"E-2"}, keys)
		if waits["E-1"] != "no task could be created: no space left" {
			t.Errorf("%v", waits)
		}
		drifts, err := r.service.Drifts()
		if err != nil || len(drifts) != 1 || !strings.Contains(drifts[0].String(), "E-1 is in ") || !strings.Contains(drifts[0].String(), "no task can be created for it: no space left") {
			t.Errorf("%v, %v", drifts, err)
		}
		r.tasks.before = nil
		keys, _ = r.begins(false)
		r.wants([]string{"E-1"}, keys)
		if drifts, err := r.service.Drifts(); err != nil || len(drifts) != 0 {
			t.Errorf("afterwards: %v, %v", drifts, err)
		}
	})
}

func TestABranchThatSomebodyHas(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		_, err := r.tasks.Runtime.Create(t.Context(), signal.NewTask{Actor: task.Human, New: signal.New{Project: "p", Branch: "eng-1-mend-the-eng-1", Summary: "s"}})
		check(t, err)
		r.begun("ENG-1", "Started")
		if got := r.of("ENG-1").Branch; !strings.HasPrefix(got, "orange-tasks/") {
			t.Errorf("on %s", got)
		}
	})
}

func TestADeletedTaskLetsTheIssueBeTakenAgain(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		r.begun("ENG-1", "Started")
		r.submit("ENG-1", signal.Signal{Kind: signal.Request, Verb: "cancel"})
		r.submit("ENG-1", signal.Signal{Kind: signal.Delete})
		r.hub.move("ENG-1", "Backlog")
		r.begins(false)
		r.begins(false)
		if list := r.all("ENG-1"); len(list) != 2 || list[1].Status != "Started" {
			t.Errorf("%d tasks", len(list))
		}
	})
}

func TestAClaimIsALease(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		r.begun("ENG-1", "Started")
		one, two := r.of("ENG-1"), r.of("ENG-1")
		two.ID = "another"
		claim := task.Effect{ID: "x/1/0", Do: "claim_card", Arg: "Claimed-Dev-1"}
		if _, err := r.service.ChangeCard(t.Context(), one, claim); err != nil {
			t.Fatal(err)
		}
		if _, err := r.service.ChangeCard(t.Context(), two, claim); err == nil || !strings.Contains(err.Error(), "another task has claimed the issue") {
			t.Error(err)
		}
		if _, err := r.service.ChangeCard(t.Context(), one, claim); err != nil {
			t.Errorf("its own: %v", err)
		}
		if got := r.hub.find("ENG-1").Card.Tags; len(got) != 1 {
			t.Errorf("tags %v", got)
		}
		time.Sleep(3 * time.Hour)
		if _, err := r.service.ChangeCard(t.Context(), two, claim); err != nil {
			t.Errorf("a claim whose owner is gone: %v", err)
		}
		if _, err := r.service.ChangeCard(t.Context(), two, task.Effect{ID: "x/2/0", Do: "release_card", Arg: "Claimed-Dev-1"}); err != nil || len(r.hub.find("ENG-1").Card.Tags) != 0 {
			t.Errorf("%v, tags %v", err, r.hub.find("ENG-1").Card.Tags)
		}
	})
}
