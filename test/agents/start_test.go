//go:build agents

package agents_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"orange/internal/core/explain"
	"orange/internal/core/task"
	"orange/internal/scriptedmodel"
	"orange/internal/ui/cli"
	"orange/internal/wait"
)

// change gives the next server and its agents another home.
func (s *env) change(without []string, files map[string]string) {
	s.t.Helper()
	s.orange("stop")
	var env []string
	for _, kv := range s.env {
		name, _, _ := strings.Cut(kv, "=")
		if !strings.Contains(" "+strings.Join(without, " ")+" ", " "+name+" ") {
			env = append(env, kv)
		}
	}
	s.env = env
	for name, text := range files {
		s.write(name, text)
	}
}

// ended waits until an agent without a terminal has ended. Earlier messages are not its last.
func (s *env) ended(id task.ID) *env {
	s.t.Helper()
	if s.sessions == "headless" {
		s.await(id, "the agent ended", func(t task.Task) bool { return len(t.AttemptCounts) > 0 && len(t.Attempts) == 0 })
	}
	return s
}

// wanted waits until a task needs a person, and returns the inbox item.
func (s *env) wanted(id task.ID) explain.Item {
	s.t.Helper()
	began := time.Now()
	var out struct {
		Items []explain.Item `json:"items"`
	}
	var found explain.Item
	wait.Until(s.t, "the task is in the inbox", func() bool {
		s.ask(&out, "inbox")
		at := slices.IndexFunc(out.Items, func(it explain.Item) bool { return it.Task == id })
		if at >= 0 {
			found = out.Items[at]
		}
		return at >= 0
	}, func() any { return s.task(id) })
	s.t.Logf("after %v: %s: %s", time.Since(began).Round(time.Second/10), found.Kind, found.Text)
	return found
}

// played counts the agents' requests that the model answered.
func (s *env) played() (n int) {
	for _, r := range s.model.Requests() {
		if r.Kind == scriptedmodel.Played {
			n++
		}
	}
	return n
}

func TestAnAgentThatCannotStartIsInTheInboxWithItsOutput(t *testing.T) {
	codexLogin := func(s *env) string {
		text, err := os.ReadFile(filepath.Join(s.dir, ".codex", "config.toml"))
		check(s.t, err)
		return strings.Replace(string(text), `env_key = "SCRIPTED_KEY"`, "requires_openai_auth = true", 1)
	}
	for _, c := range []struct {
		name, agent, sessions string
		without               []string
		files                 func(s *env) map[string]string
		kinds                 string
		words                 string
	}{
		{"not logged in", "claude", "tmux", []string{"ANTHROPIC_API_KEY"}, nil, "not-started input turn-failed", "/login"},
		{"not logged in", "claude", "headless", []string{"ANTHROPIC_API_KEY"}, nil, "not-started", "/login"},
		{"no key", "codex", "tmux", []string{"SCRIPTED_KEY"}, nil, "not-started turn-failed", "SCRIPTED_KEY"},
		{"no key", "codex", "headless", []string{"SCRIPTED_KEY"}, nil, "not-started", "SCRIPTED_KEY"},
		{"no provider to begin with", "claude", "tmux", nil, func(*env) map[string]string { return map[string]string{".claude.json": `{}`} }, "not-started", "Failed to connect"},
		{"a key that nobody approved", "claude", "tmux", nil, func(*env) map[string]string {
			return map[string]string{".claude.json": `{"hasCompletedOnboarding":true,"theme":"dark"}`}
		}, "permission not-started", "API key"},
		{"the login menu", "codex", "tmux", []string{"SCRIPTED_KEY"}, func(s *env) map[string]string {
			return map[string]string{".codex/config.toml": codexLogin(s)}
		}, "input", "Sign in"},
	} {
		t.Run(fmt.Sprintf("%s/%s/%s", c.agent, c.sessions, c.name), func(t *testing.T) {
			t.Parallel()
			s := newEnv(t, c.agent, c.sessions, mainJob())
			var files map[string]string
			if c.files != nil {
				files = c.files(s)
			}
			s.change(c.without, files)
			id := s.create()
			it := s.ended(id).wanted(id)
			if !strings.Contains(" "+c.kinds+" ", " "+string(it.Kind)+" ") || !strings.Contains(it.Text, c.words) {
				t.Errorf("%s: %q, want %s with %q", it.Kind, it.Text, c.kinds, c.words)
			}
			if strings.Contains(it.Text, key[len(key)-8:]) {
				t.Errorf("the key is in %q", it.Text)
			}
			if got := s.task(id); got.Status != "planning" || got.CounterValue("crash_count") != 0 {
				t.Errorf("%+v", got)
			}
			if n := s.played(); n != 0 {
				t.Errorf("the model was asked %d times", n)
			}
		})
	}
}

func TestATurnThatItsProviderRefusesIsInTheInbox(t *testing.T) {
	for _, agent := range []string{"claude", "codex"} {
		for _, sessions := range []string{"tmux", "headless"} {
			t.Run(agent+"/"+sessions, func(t *testing.T) {
				t.Parallel()
				turn := scriptedmodel.Turn{Status: 400, Message: "the moon is full"}
				s := newEnv(t, agent, sessions, []scriptedmodel.Script{{Name: workerScript, When: toWorker, Turns: []scriptedmodel.Turn{turn}}})
				id := s.create()
				it := s.ended(id).wanted(id)
				want := explain.ItemTurnFailed
				if sessions == "headless" {
					want = explain.ItemNotStarted // it ended before the model sent anything
				}
				if it.Kind != want || !strings.Contains(it.Text, "the moon is full") {
					t.Errorf("%s: %q", it.Kind, it.Text)
				}
				asked := s.played()
				if got := s.task(id); got.Status != "planning" || got.CounterValue("crash_count") != 0 {
					t.Errorf("%+v", got)
				}
				if n := s.played(); n != asked {
					t.Errorf("something was typed into it: %d requests, then %d", asked, n)
				}
			})
		}
	}
}

func TestTheDoctorSaysWhichAgentsCouldWork(t *testing.T) {
	each(t, func(t *testing.T, agent, sessions string) {
		if sessions == "headless" {
			t.Skip("it looks at a terminal")
		}
		s := newEnv(t, agent, sessions, mainJob())
		only := filepath.Join(s.dir, "only")
		check(t, errors.Join(os.Mkdir(only, 0o755), os.Symlink(filepath.Join(installed(t, agent), agent), filepath.Join(only, agent))))
		s.env[0] = "PATH=" + only + string(os.PathListSeparator) + os.Getenv("PATH")
		s.git(s.dir, "config", "--global", "user.name", "Shop")
		s.git(s.dir, "config", "--global", "user.email", "shop@example.com")
		ready := s.examine(agent)
		if !ready.OK || ready.State != "ready" || ready.Version != ready.Tried || !strings.HasSuffix(ready.Path, "/"+agent) {
			t.Errorf("%+v", ready)
		}
		if agent != "claude" && agent != "codex" {
			return
		}
		s.change([]string{"ANTHROPIC_API_KEY", "SCRIPTED_KEY"}, map[string]string{".codex/config.toml": ""})
		if got := s.examine(agent); got.OK || got.State != "login" || got.Fix == "" {
			t.Errorf("%+v", got)
		}
		if n := s.played(); n != 0 {
			t.Errorf("the model was asked %d times", n)
		}
	})
}

// examine runs the doctor on an agent.
func (s *env) examine(agent string) cli.AgentCheck {
	s.t.Helper()
	out, said, _ := s.run("doctor", "--agents", "--json")
	var r cli.AgentsReport
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		s.t.Fatalf("%v: %s%s", err, out, said)
	}
	if r.Identity != "Shop <shop@example.com>" {
		s.t.Errorf("git commits as %q", r.Identity)
	}
	for _, a := range r.Agents {
		if a.Name == agent {
			s.t.Logf("%+v", a)
			return a
		}
	}
	s.t.Fatalf("nothing about %s: %s", agent, out)
	return cli.AgentCheck{}
}
