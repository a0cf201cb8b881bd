package main

import (
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/core/task"
	"orange/internal/trackertest"
)

// TestLinearFails lets Linear fail while a task begins, and while it ends.
// Afterwards its issue is as if nothing had been.
func TestLinearFails(t *testing.T) {
	t.Parallel()
	waits := strings.Replace(briefly, "development:\n", "development:\n"+untilGo("go"), 1)
	for name, f := range map[string]struct{ begin, end trackertest.Fault }{
		"broken":  {trackertest.Fault{Kind: trackertest.Broken, Times: 2}, trackertest.Fault{Kind: trackertest.Broken, Times: 1, Writes: true}},
		"lost":    {trackertest.Fault{Kind: trackertest.Lost, Times: 1}, trackertest.Fault{Kind: trackertest.Lost, Times: 2, Writes: true}},
		"limited": {trackertest.Fault{Kind: trackertest.Limited, Times: 2}, trackertest.Fault{Kind: trackertest.Limited, Times: 5}},
		"denied":  {end: trackertest.Fault{Kind: trackertest.Denied, Times: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, w, key := openBrief(t)
			s.write("scripts/lin.yaml", waits)
			w.InjectFault(f.begin)
			id := s.begin(key)
			s.eventually("the agent is at work", func() bool { return s.has("go-begun") })
			s.await(id, "nothing is owed", func(t task.Task) bool { return len(t.Pending) == 0 })
			w.InjectFault(f.end)
			s.write("go", "")
			got := s.rests(id, "Accepted")
			beenIn(t, w, key, "Backlog", "Started", "Accepted")
			said(t, w, key, "It is there.")
			s.wayIs(id, "Backlog", "Started", "Accepted")
			if got.Attention != "" {
				t.Errorf("%+v", got)
			}
			s.sound(id)
		})
	}
}

// TestASecretThatLinearDoesNotTake keeps what is owed to Linear until the secret is
// mended. The work continues meanwhile.
func TestASecretThatLinearDoesNotTake(t *testing.T) {
	t.Parallel()
	s, w := openLinear(t, "development:\n"+untilGo("{task}")+`
  - commit: {file: a.txt, text: "a\n", message: do it}
  - say: It is there.
qa:
  - say: "I tried it.\n\n`+passed+`"
acceptance:
  - idle:
acceptance#2:
  - say: "Ship it.\n\n`+passed+`"
`)
	key := w.AddIssue(t, filed("Login", "Backlog"))
	id := s.begin(key)
	s.eventually("the agent is at work", func() bool { return s.has(string(id) + "-begun") })
	s.await(id, "nothing is owed", func(t task.Task) bool { return len(t.Pending) == 0 })
	s.secret("linear.token", "lin_api_revoked")
	s.write(string(id), "")
	where := "file:" + filepath.Join(s.dir, "linear.token")
	got := s.await(id, "a person is to look", func(t task.Task) bool { return t.Attention != "" })
	hasAll(t, "what the task wants", got.Attention, where)
	got = s.await(id, "the work goes on", func(t task.Task) bool { _, ok := t.LiveAttempt("acceptance"); return ok })
	if got.Status != "Delivered" || len(got.Pending) != 4 {
		t.Errorf("%+v", got)
	}
	s.await(id, "a person is to look in this state too", func(t task.Task) bool { return t.Attention != "" })
	hasAll(t, "the inbox", s.wanted(id).Text, where)
	if _, said, err := s.run("dispatch"); err == nil {
		t.Errorf("it is dispatched: %s", said)
	}
	out, _, err := s.run("doctor")
	if err == nil {
		t.Error("the doctor finds nothing")
	}
	hasAll(t, "the doctor", out, "lin: ", where)
	hasAll(t, "the list", s.orange("tracker", "list"), where)
	s.refused("check the secret that the tracker's token names", "tracker", "test", "lin")
	if real := w.ReadIssue(t, key); real.Card.Column != "Started" || len(real.Comments) != 0 {
		t.Errorf("%+v", real)
	}

	s.secret("linear.token", w.Secret())
	hasAll(t, "the trial", s.orange("tracker", "test", "lin"), "Account orange")
	s.sync()
	s.await(id, "all that was owed has arrived", func(t task.Task) bool { return len(t.Pending) == 0 && t.Attention == "" })
	said(t, w, key, "It is there.", "I tried it.")
	beenIn(t, w, key, "Backlog", "Started", "Finished", "Delivered")
	if drift := s.sync().Drift; len(drift) != 0 {
		t.Errorf("%+v", drift)
	}
	s.sound()
}

func TestAColumnThatLinearDoesNotKnowIsNamed(t *testing.T) {
	t.Parallel()
	s, w, key := openBrief(t)
	w.RenameColumn(t, "Accepted", "Shipped")
	out, _, err := s.run("tracker", "test", "lin")
	if err == nil {
		t.Error("nothing is missing")
	}
	hasAll(t, "the trial", out, `Missing column "Accepted"`)
	id := s.begin(key)
	got := s.await(id, "a person is to look", func(t task.Task) bool { return t.Attention != "" })
	hasAll(t, "what the task wants", got.Attention, "orange tracker add lin --column")
	s.orange("tracker", "add", "lin", "--column", "Accepted=Shipped")
	hasAll(t, "the trial", s.orange("tracker", "test", "lin"), "Shipped")
	s.orange("resume", string(id))
	s.rests(id, "Accepted")
	beenIn(t, w, key, "Backlog", "Started", "Shipped")
	said(t, w, key, "It is there.")
	if s.task(id).Attention != "" {
		t.Errorf("%+v", s.task(id))
	}
	s.sound(id)
}
