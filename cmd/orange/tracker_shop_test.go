package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orange/internal/core/board"
	"orange/internal/core/task"
	"orange/internal/core/tracker"
	"orange/internal/trackertest"
	"orange/internal/trackertest/fakelinear"
)

// sdlc is what agents do who develop, test and accept an issue without trouble.
const sdlc = `
development:
  - commit: {file: "{task}.txt", text: "done\n", message: do it}
  - say: It is there.
qa:
  - say: "I tried it.\n\n` + passed + `"
acceptance:
  - say: "Ship it.\n\n` + passed + `"
`

// openLinear opens a shop whose issues are in a Linear of its own. Its secret is in a
// file.
func openLinear(t *testing.T, script string, more ...string) (*env, *fakelinear.World) {
	t.Helper()
	return openLinearFor(t, "linear-sdlc", script, more...)
}

func openLinearFor(t *testing.T, workflow, script string, more ...string) (*env, *fakelinear.World) {
	t.Helper()
	w := fakelinear.OpenWorld(t, fakelinear.FakeOptions{})
	s := openEnv(t, "headless", "--workflow", workflow, "--pool-size", "4")
	s.secret("linear.token", w.Secret())
	s.addTracker("lin", script, append([]string{"--kind", "linear", "--url", w.URL, "--scope", "ENG", "--author", "alice"}, more...)...)
	return s, w
}

// secret keeps one in a file that nobody else may read.
func (s *env) secret(name, value string) string {
	s.t.Helper()
	path := s.write(name, value+"\n")
	check(s.t, os.Chmod(path, 0o600))
	return path
}

// addTracker adds one whose tasks play a script. Unless it is said, its secret is in
// linear.token.
func (s *env) addTracker(name, script string, more ...string) {
	s.t.Helper()
	args := append([]string{"tracker", "add", name, "--project", "shop", "--harness", "script:" + s.write("scripts/"+name+".yaml", script)}, more...)
	if !slices.Contains(more, "--token") && !slices.Contains(more, "board") {
		args = append(args, "--token", "file:"+filepath.Join(s.dir, "linear.token"))
	}
	s.orange(args...)
}

// filed is an issue as a person files it.
func filed(title, column string, more ...func(*tracker.Issue)) tracker.Issue {
	is := tracker.Issue{Card: board.Card{Title: title, Author: "alice", Column: column, Description: "Do it well."}}
	for _, m := range more {
		m(&is)
	}
	return is
}

// round has one round of dispatches made.
func (s *env) round(more ...string) tracker.Round {
	s.t.Helper()
	var out struct{ Rounds []tracker.Round }
	check(s.t, json.Unmarshal([]byte(s.orange(append([]string{"dispatch", "--once", "--json"}, more...)...)), &out))
	if len(out.Rounds) != 1 || out.Rounds[0].Problem != "" {
		s.t.Fatalf("%+v", out.Rounds)
	}
	return out.Rounds[0]
}

// choice is what became of an issue in a round.
func choice(t *testing.T, r tracker.Round, key string) tracker.Choice {
	t.Helper()
	at := slices.IndexFunc(r.Choices, func(c tracker.Choice) bool { return c.Key == key })
	if at < 0 {
		t.Fatalf("%s is not in the round: %+v", key, r)
	}
	return r.Choices[at]
}

// begin dispatches an issue and returns its task.
func (s *env) begin(key string) task.ID {
	s.t.Helper()
	c := choice(s.t, s.round(), key)
	if !c.Dispatch || c.Task == "" {
		s.t.Fatalf("%+v", c)
	}
	return task.ID(c.Task)
}

// sync reads the tracker and returns what is new.
func (s *env) sync(more ...string) tracker.Report {
	s.t.Helper()
	var out struct{ Reports []tracker.Report }
	check(s.t, json.Unmarshal([]byte(s.orange(append([]string{"tracker", "sync", "lin", "--json"}, more...)...)), &out))
	if len(out.Reports) != 1 {
		s.t.Fatalf("%+v", out.Reports)
	}
	return out.Reports[0]
}

// been are the states that an issue of Linear has been in, in order.
func been(t *testing.T, w *fakelinear.World, key string) []string {
	t.Helper()
	resp, err := http.Get(strings.TrimSuffix(w.URL, "graphql") + "issues")
	check(t, err)
	defer resp.Body.Close() //nolint:errcheck // it was read
	var list []struct {
		Key    string
		States []string
	}
	check(t, json.NewDecoder(resp.Body).Decode(&list))
	for _, is := range list {
		if is.Key == key {
			return is.States
		}
	}
	t.Fatalf("there is no %s: %+v", key, list)
	return nil
}

func beenIn(t *testing.T, w *fakelinear.World, key string, want ...string) {
	t.Helper()
	if got := been(t, w, key); !slices.Equal(got, want) {
		t.Errorf("%s has been in %q, want %q", key, got, want)
	}
}

// said makes sure that an issue has exactly so many comments of ours, and each of the
// words in one of them.
func said(t *testing.T, w trackertest.World, key string, words ...string) {
	t.Helper()
	var all []string
	for _, c := range w.ReadIssue(t, key).Comments {
		if strings.Contains(c.Text, tracker.Mark) {
			all = append(all, c.Text)
		}
	}
	if len(all) != len(words) {
		t.Errorf("%s: %d comments, want %d:\n%s", key, len(all), len(words), strings.Join(all, "\n--\n"))
	}
	for _, word := range words {
		n := 0
		for _, text := range all {
			if strings.Contains(text, word) {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%s: %d comments say %q:\n%s", key, n, word, strings.Join(all, "\n--\n"))
		}
	}
}
