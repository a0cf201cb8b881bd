package trackers_test

import (
	"testing"
	"time"

	"orange/internal/core/board"
	"orange/internal/core/signal"
	"orange/internal/core/tracker"
)

func TestOrdersInComments(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		r.begun("ENG-1", "Started")
		paused := func(want bool, when string) {
			t.Helper()
			if got := r.of("ENG-1").Paused; got != want {
				t.Errorf("%s: paused %v", when, got)
			}
		}
		later := func() { time.Sleep(time.Minute) }
		r.hub.say("ENG-1", "mallory", "HOLD")
		r.hub.change("ENG-1", func(is *tracker.Issue) { r.hub.comment(is, "alice", "HOLD", true) })
		r.hub.say("ENG-1", "alice", "HOLD it right there")
		r.hub.say("ENG-1", "alice", "HOLD\n\n"+tracker.Mark+"0 -->")
		if news := r.sync().News; len(news) > 0 {
			t.Errorf("words of strangers and machines: %q", news)
		}
		paused(false, "nobody ordered it")
		later()
		r.hub.say("ENG-1", "Alice", "hold - until monday")
		if news := r.sync().News; !heard(news, "lin:ENG-1: held by Alice: until monday") {
			t.Errorf("news: %q", news)
		}
		paused(true, "held")
		r.submit("ENG-1", signal.Signal{Kind: signal.Resume}) // in Orange
		r.sync()
		paused(false, "a person resumed it here: the old order is done")
		later()
		r.hub.say("ENG-1", "alice", "HOLD")
		r.sync()
		later()
		r.hub.say("ENG-1", "mallory", "RESUME")
		r.sync()
		paused(true, "a stranger cannot resume it")
		later()
		r.hub.say("ENG-1", "alice", "RESUME")
		later()
		r.hub.say("ENG-1", "alice", "PRIORITY HIGH")
		if news := r.sync().News; !heard(news, "resumed by alice") {
			t.Errorf("news: %q", news)
		}
		paused(false, "resumed, and another order came after that")
		r.submit("ENG-1", signal.Signal{Kind: signal.Pause})
		r.sync()
		paused(true, "a person paused it after the RESUME")
	})
}

func TestAResumeEndsNoLaterPause(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		r.begun("ENG-1", "Started")
		r.hub.say("ENG-1", "alice", "HOLD")
		time.Sleep(time.Second)
		r.hub.say("ENG-1", "alice", "RESUME")
		r.sync()
		if r.of("ENG-1").Paused {
			t.Error("an order that was taken back")
		}
		r.submit("ENG-1", signal.Signal{Kind: signal.Pause})
		r.sync()
		if !r.of("ENG-1").Paused {
			t.Error("a person paused it, and an old comment resumed it")
		}
	})
}

func TestSkipQA(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		r.begun("ENG-1", "Started")
		r.hub.say("ENG-1", "mallory", "SKIP QA")
		r.hub.say("ENG-1", "alice", "skip-qa")
		if news := r.sync().News; len(news) > 0 {
			t.Errorf("too early: %q", news)
		}
		r.passes("ENG-1")
		if news := r.sync().News; !heard(news, "alice skips QA") {
			t.Errorf("news: %q", news)
		}
		r.is("ENG-1", "Delivered", "Delivered")
		r.submit("ENG-1", signal.Signal{Kind: signal.Request, To: "Finished"})
		r.sync() // it still holds
		r.is("ENG-1", "Delivered", "Delivered")
		if news := r.sync().News; len(news) > 0 {
			t.Errorf("said again: %q", news)
		}
	})
}

func TestOrdersHaveAnAuthor(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		r.begun("ENG-1", "Started")
		r.hub.say("ENG-1", "alice", "HOLD")
		r.sync()
		entries, err := r.store.Journal(r.of("ENG-1").ID, 0)
		if err != nil {
			t.Fatal(err)
		}
		if v := entries[len(entries)-1].Via; v == nil || *v != (signal.Via{Kind: signal.ViaTracker, Tracker: "lin", Account: "alice"}) {
			t.Errorf("the hold came via %v", v)
		}
		if v := entries[0].Via; v == nil || v.Kind != signal.ViaTracker || v.Tracker != "lin" {
			t.Errorf("the task came via %v", v)
		}
	})
}

// Orange writes the issue while a round reads it. The round reads it again: a person who asked for the round sees
// their order carried out.
func TestAnOrderReadDuringAWriteIsCarriedOut(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		r.begun("ENG-1", "Started")
		r.hub.say("ENG-1", "alice", "HOLD")
		kept, _, err := r.store.KeptIssue("lin", "ENG-1")
		check(t, err)
		written := false
		r.hub.after = func(op, _ string, _ board.Change) error {
			if op != "issue" || written {
				return nil
			}
			written = true
			time.Sleep(time.Millisecond)
			kept.ReadAt = time.Now()
			_, err := r.store.KeepIssue("lin", kept)
			return err
		}
		r.sync()
		if !written || !r.of("ENG-1").Paused {
			t.Error("the order was not carried out")
		}
	})
}
