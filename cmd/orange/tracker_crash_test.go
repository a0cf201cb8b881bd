package main

import (
	"fmt"
	"strings"
	"testing"

	"orange/internal/core/journal"
	"orange/internal/core/task"
	"orange/internal/core/tracker"
	"orange/internal/core/workflow"
	"orange/internal/trackertest/fakelinear"
)

// brief is a workflow that shows a tracker all that others show, in three states.
const brief = `
name: brief
version: 1
describe: Do it.
roles:
  development: {describe: does it, harness: task, session: visit, window: dev, prompt: development, protocol: work-result}
states:
  Backlog: {kind: queued}
  Started: {kind: agent, role: development, deadline: {wall: 1h, idle: 30m}}
  Stuck: {kind: halt, returns: true}
  Accepted: {kind: terminal}
  Canceled: {kind: terminal, reopen: Backlog}
counters:
  crash_count: {max: 2, per: state, counts: crashes}
  no_answer: {max: 3, per: state, counts: no-answers}
edges:
  - {from: new, to: Backlog, on: create, by: [human, engine, tracker]}
  - {from: Backlog, to: Started, on: [request, ready], as: complete, by: [human, engine, tracker], do: [acquire_workspace, {spawn_agent: development}]}
  - {from: Started, to: Accepted, on: {outcome: passed}, by: [development], do: [post_result, kill_session, release_workspace]}
  - {from: Started, to: Started, on: {outcome: failed}, by: [development], hold: true, do: [post_result]}
  - {from: Started, to: Stuck, on: [crash-limit, no-answer-limit]}
  - {from: Stuck, to: Started, as: resume, by: [human]}
  - {from: [Backlog, Started, Stuck], to: Canceled, as: cancel, by: [human, tracker], do: [kill_session, release_workspace]}
tracker: {Backlog: Backlog, Started: Started, Accepted: Accepted, Canceled: Canceled}
prompts:
  development: |
    Do it: {summary}
    {report}
`

const briefly = "development:\n  - commit: {file: a.txt, text: \"a\\n\", message: do it}\n  - say: \"It is there.\\n" + passed + "\"\n"

// openBrief opens a shop with a Linear, an issue in it, and a short way to its end.
func openBrief(t *testing.T) (*env, *fakelinear.World, string) {
	t.Helper()
	s, w := openEnv(t, "headless"), fakelinear.OpenWorld(t, fakelinear.FakeOptions{})
	s.write("config/orange/workflows/brief.yaml", brief)
	s.secret("linear.token", w.Secret())
	s.addTracker("lin", briefly, "--kind", "linear", "--url", w.URL, "--scope", "ENG", "--workflow", "brief")
	return s, w, w.AddIssue(t, filed("Login", "Backlog"))
}

// TestTheServerIsKilledAtEachEffectOnAnIssue kills the server before and after every
// effect on an issue. Whatever was under way, the issue ends the same.
func TestTheServerIsKilledAtEachEffectOnAnIssue(t *testing.T) {
	t.Parallel()
	whole, w, key := openBrief(t)
	id := issueLife(whole, w, key)
	at, kinds := 0, map[string]int{}
	for _, e := range whole.journal(id) {
		for _, x := range e.Effects {
			at += 2
			if info, _ := workflow.EffectNamed(x.Do); !info.Card {
				continue
			}
			kinds[x.Do]++
			for side, boundary := range map[string]int{"before": at - 1, "after": at} {
				t.Run(fmt.Sprintf("%s-%s-%d", side, x.Do, kinds[x.Do]), func(t *testing.T) {
					t.Parallel()
					s, w, key := openBrief(t)
					first := s.crashingServer(boundary, "effect.")
					issueLife(s, w, key)
					if err := first.Wait(); !killed(err) {
						t.Errorf("the server was not killed: %v", err)
					}
				})
			}
		}
	}
	if kinds[workflow.MoveCard] != 3 || kinds[workflow.CommentCard] != 1 {
		t.Errorf("the life has %v", kinds)
	}
}

// issueLife plays a short life and checks the final state of the issue.
func issueLife(s *env, w *fakelinear.World, key string) task.ID {
	s.t.Helper()
	if out, said, err := s.run("dispatch", "--once"); err != nil { // the server died before it answered
		if !strings.Contains(out+said, "try again") {
			s.t.Errorf("%v: %s%s", err, out, said)
		}
		s.round()
	}
	var tasks []task.Task
	s.eventually("the task is there", func() bool { tasks = s.list(); return len(tasks) > 0 })
	id := tasks[0].ID
	s.rests(id, "Accepted")
	beenIn(s.t, w, key, "Backlog", "Started", "Accepted")
	said(s.t, w, key, "It is there.")
	s.wayIs(id, "Backlog", "Started", "Accepted")
	if n := len(s.entries(id, journal.AgentSpawned)); len(tasks) != 1 || n != 1 {
		s.t.Errorf("%d tasks, %d agents", len(tasks), n)
	}
	if r := s.sync(); len(r.Drift)+len(r.News) != 0 {
		s.t.Errorf("%+v", r)
	}
	s.sound(id)
	return id
}

// TestAParentIsBegunThoughTheServerDied kills the server while it makes the tasks of a
// parent and its parts. The next round makes what is missing.
func TestAParentIsBegunThoughTheServerDied(t *testing.T) {
	t.Parallel()
	for at := range 4 {
		t.Run(fmt.Sprintf("after-commit-%d", at+1), func(t *testing.T) {
			t.Parallel()
			s, w := openLinear(t, "development:\n  - idle:\n")
			parent := w.AddIssue(t, filed("Shop", "Backlog"))
			part := func(is *tracker.Issue) { is.Parent = parent }
			keys := []string{parent, w.AddIssue(t, filed("Cart", "Backlog", part)), w.AddIssue(t, filed("Till", "Backlog", part))}
			first := s.crashingServer(at+1, "commit.after")
			s.run("dispatch") //nolint:errcheck // the server may die before it answers
			if err := first.Wait(); !killed(err) {
				t.Errorf("the server was not killed: %v", err)
			}
			s.round()
			s.round()
			ids := map[string]task.ID{}
			for _, tk := range s.list() {
				_, key, _ := tracker.ParseRef(tk.TrackerRef)
				if ids[key] != "" {
					t.Errorf("%s has two tasks", key)
				}
				ids[key] = tk.ID
			}
			if len(ids) != 3 {
				t.Fatalf("%v", ids)
			}
			s.rests(ids[parent], "Coordinating")
			for _, key := range keys[1:] {
				if got := s.reaches(ids[key], "Started"); got.Parent != ids[parent] {
					t.Errorf("%s has the parent %q", key, got.Parent)
				}
			}
			s.sound(ids[parent])
		})
	}
}
