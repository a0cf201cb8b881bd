package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"orange/internal/config"
	"orange/internal/core/agent"
	"orange/internal/core/task"
)

// A setupQuestion is a question of orange init. A new question is a new row of setupQuestions.
type setupQuestion struct {
	flag     string // name of the flag that answers it, and of the answer
	usage    string // of that flag
	ask      string
	fallback string                              // the default, if prepare is nil
	prepare  func(context.Context, *setup) error // finds out what suggest needs; only called if the answer is not known; may be nil
	suggest  func(*setup) string                 // the default, after prepare
	unasked  func(*setup) string                 // the default, after prepare, where nobody is asked; nil for suggest
	have     func(*setup) string                 // what is set now, "" if nothing is
	explain  func(*setup) []string               // lines above the question
	check    func(context.Context, *setup, string) error
	set      func(*setup, string) // notes an answer that differs from what is set
}

// setupQuestions returns the questions, in the order in which they are asked.
func setupQuestions() []setupQuestion {
	return []setupQuestion{harnessQuestion(), baseQuestion(), workflowQuestion(), testsQuestion(), deliveryQuestion(), notifyQuestion()}
}

// defaultUnasked returns the default where nobody is asked.
func (q *setupQuestion) defaultUnasked(u *setup) string {
	if q.unasked != nil {
		return q.unasked(u)
	}
	return q.suggest(u)
}

// noAnswer is the answer that sets nothing.
const noAnswer = "none"

func harnessQuestion() setupQuestion {
	return setupQuestion{
		flag: "harness", usage: "agent of new tasks: " + strings.Join(agent.HarnessNames(), ", ") + ", or none for the first one that is installed", ask: "Which agent works on new tasks",
		prepare: func(ctx context.Context, u *setup) error { return u.detectAgents(ctx) },
		suggest: func(u *setup) string {
			for _, ready := range []bool{true, false} {
				for _, a := range u.agents.Agents {
					if a.Path != "" && (a.OK || !ready) {
						return a.Name
					}
				}
			}
			return noAnswer
		},
		have: func(u *setup) string { return u.Config.Harness },
		explain: func(u *setup) []string {
			var lines []string
			for _, a := range u.agents.Agents {
				switch {
				case a.Path == "":
				case a.OK:
					lines = append(lines, "  "+a.Name+" "+a.Version+": ready")
				default:
					lines = append(lines, "  "+a.Name+" "+a.Version+": "+a.State+": "+a.Fix)
				}
			}
			if len(lines) == 0 {
				lines = []string{"  No coding agent is installed: install " + strings.Join(agent.HarnessNames(), ", ") + ", or name script:FILE or command:PROGRAM."}
			}
			return append([]string{"Agents here:"}, lines...)
		},
		check: func(_ context.Context, u *setup, value string) error {
			if value == noAnswer {
				return nil
			}
			full, err := u.resolveHarness(value)
			if err != nil {
				return err
			}
			if full == value && !slices.Contains(agent.HarnessNames(), value) && !strings.HasPrefix(value, "command:") && !strings.HasPrefix(value, "script:") {
				return fmt.Errorf("agent %q is not known: give %s, command:PROGRAM, script:FILE or none", value, strings.Join(agent.HarnessNames(), ", "))
			}
			return nil
		},
		set: func(u *setup, value string) {
			if value == noAnswer {
				value = ""
			}
			full, err := u.resolveHarness(value)
			if err == nil {
				value = full
			}
			u.settings["harness"] = value
		},
	}
}

// detectAgents starts each installed agent once, without a prompt.
func (u *setup) detectAgents(ctx context.Context) error {
	if u.searched || u.Agents == nil {
		return nil
	}
	u.searched = true
	fmt.Fprintln(u.Stderr, "orange: looking for agents, and whether they are logged in...")
	var err error
	u.agents, err = u.Agents(ctx)
	if err == nil && u.agents.Identity == "" {
		fmt.Fprintln(u.Stderr, "orange: git has no identity, so agents cannot commit: run git config --global user.name NAME and git config --global user.email ADDRESS")
	}
	return err
}

func baseQuestion() setupQuestion {
	return setupQuestion{
		flag: "base", usage: "branch that tasks start from and land on", ask: "Which branch do tasks start from",
		have: func(u *setup) string { return u.project.DefaultBranch },
		explain: func(u *setup) []string {
			return []string{"A task starts from this branch, and its work lands there."}
		},
		check: func(ctx context.Context, u *setup, value string) error {
			for _, ref := range []string{"refs/heads/" + value, "refs/remotes/origin/" + value} {
				if commit, err := u.Repository.ResolveCommit(ctx, u.project.Path, ref); err == nil && commit != "" {
					return nil
				}
			}
			return fmt.Errorf("%s has no branch %q: give one of git branch", u.project.Path, value)
		},
		set: func(u *setup, value string) { u.project.DefaultBranch, u.change.Base = value, &value },
	}
}

func workflowQuestion() setupQuestion {
	return setupQuestion{
		flag: "workflow", usage: "workflow of new tasks", ask: "Which workflow do tasks follow", fallback: soloWorkflow,
		have: func(u *setup) string { return u.project.Workflow },
		explain: func(u *setup) []string {
			return []string{
				"Workflows: solo (one agent works, you review), orange-direct (a second agent reviews first),",
				"orange (plans first, too), or one of orange workflow list.",
			}
		},
		check: func(_ context.Context, u *setup, value string) error {
			if u.Workflows == nil {
				return nil
			}
			_, _, err := u.Workflows.FindWorkflow(value, u.Cwd)
			return err
		},
		set: func(u *setup, value string) { u.project.Workflow, u.change.Workflow = value, &value },
	}
}

func deliveryQuestion() setupQuestion {
	return setupQuestion{
		flag: "delivery", usage: "how finished work leaves this machine: local, push or pr", ask: "How does finished work leave this machine",
		have: func(u *setup) string { return cmp.Or(string(u.project.Delivery), string(task.DeliverLocal)) },
		explain: func(u *setup) []string {
			if u.remote == "" {
				return []string{"Finished work: local (you merge it here). push and pr need a remote, and origin is not set."}
			}
			return []string{
				"Finished work: local (you merge it here), push (the branch is pushed) or pr (a pull request is opened).",
				"  origin is " + hideCredentials(u.remote),
			}
		},
		check: func(_ context.Context, u *setup, value string) error {
			switch d := task.Delivery(value); {
			case d != task.DeliverLocal && !d.PushesBranch():
				return fmt.Errorf("delivery %q is not known: give local, push or pr", value)
			case d.PushesBranch() && u.remote == "":
				return errors.New(value + " needs a remote: run git remote add origin URL, or choose local")
			}
			return nil
		},
		set: func(u *setup, value string) {
			d := task.Delivery(value)
			u.project.Delivery, u.change.Delivery = d, &d
		},
	}
}

// hideCredentials returns an address of a remote without the user and password that it may contain.
func hideCredentials(remote string) string {
	scheme, rest, ok := strings.Cut(remote, "://")
	if !ok {
		return remote
	}
	host, path, _ := strings.Cut(rest, "/")
	return scheme + "://" + host[strings.LastIndexByte(host, '@')+1:] + "/" + path
}

func notifyQuestion() setupQuestion {
	return setupQuestion{
		flag: "notify", usage: "how Orange notifies you: none, desktop, bell, or ntfy=URL", ask: "How are you told that something waits",
		have: func(u *setup) string {
			var out []string
			for i := range u.Config.Notify {
				n := &u.Config.Notify[i]
				if out = append(out, n.Kind); n.Kind == "ntfy" {
					out[i] += "=" + n.URL
				}
			}
			return cmp.Or(strings.Join(out, ","), noAnswer)
		},
		explain: func(u *setup) []string {
			return []string{
				"Notifications: none, desktop, bell (of the terminal), ntfy=https://HOST/TOPIC, or several with commas.",
				"  docs/OPERATIONS.md has more: webhooks, Slack, secrets.",
			}
		},
		check: func(_ context.Context, u *setup, value string) error {
			_, err := parseNotify(value)
			return err
		},
		set: func(u *setup, value string) {
			if list, err := parseNotify(value); err == nil {
				u.settings["notify"] = list
			}
		},
	}
}

// parseNotify parses channels as orange init takes them.
func parseNotify(value string) ([]map[string]string, error) {
	out := []map[string]string{}
	if value == noAnswer {
		return out, nil
	}
	for one := range strings.SplitSeq(value, ",") {
		kind, address, _ := strings.Cut(strings.TrimSpace(one), "=")
		n := config.Notify{Kind: kind, URL: address}
		if kind != "desktop" && kind != "bell" && kind != "ntfy" {
			return nil, fmt.Errorf("notification %q is not known: give none, desktop, bell or ntfy=URL", one)
		}
		if err := n.Check(); err != nil {
			return nil, err
		}
		channel := map[string]string{"kind": kind}
		if address != "" {
			channel["url"] = address
		}
		out = append(out, channel)
	}
	return out, nil
}
