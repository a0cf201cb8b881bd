package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/config"
	"orange/internal/core/task"
	"orange/internal/wire"
)

// policyFlags are what a person lays down for a project's tasks.
type policyFlags struct {
	delivery, setup, teardown string
	taskCost, dayCost         money
	taskAttempts, dayAttempts int
	forge                     task.Forge
	confirm                   string
	set                       []string
	vars                      task.Vars
	given                     func(flag string) bool
}

func newPolicyFlags(cmd *cobra.Command) *policyFlags {
	p := &policyFlags{given: cmd.Flags().Changed}
	f := cmd.Flags()
	f.StringVar(&p.delivery, "delivery", "", "how finished work leaves this machine: local, push or pr (default local)")
	f.StringVar(&p.setup, "setup", "", "shell command for a workspace that a task takes")
	f.StringVar(&p.teardown, "teardown", "", "shell command for a workspace before it is given back")
	f.StringVar(&p.forge.Kind, "forge", "", "where pull requests live: github or gitea (default: github)")
	f.StringVar(&p.forge.URL, "forge-url", "", "address of its API (github) or of the forge (gitea), if the remote does not tell")
	f.StringVar(&p.forge.Scope, "forge-repo", "", "OWNER/REPO there, if the remote does not tell")
	f.StringVar(&p.forge.Token, "forge-token", "", "where its secret is: env:NAME, file:PATH, command:..., gh (default: GH_TOKEN, GITHUB_TOKEN, then gh)")
	f.StringVar(&p.confirm, "confirm", "", "merge=code: a person's merge needs a code that is shown by notification; merge=none: it does not")
	f.StringArrayVar(&p.set, "var", nil, "`NAME=TEXT` for {vars.NAME} in prompts; NAME= takes it away; no place for secrets. May be repeated")
	f.Var(&p.taskCost, "max-task-cost", "dollars that the agents of one task may cost, 0 for no bound")
	f.IntVar(&p.taskAttempts, "max-task-attempts", 0, "attempts that one task may have, 0 for no bound")
	f.Var(&p.dayCost, "max-day-cost", "dollars that all agents of the project may cost in a day (UTC), 0 for no bound")
	f.IntVar(&p.dayAttempts, "max-day-attempts", 0, "attempts that the project may have in a day (UTC), 0 for no bound")
	return p
}

func (p *policyFlags) check() error {
	var wrong error
	if p.vars, wrong = task.ParseVars(p.set); wrong != nil {
		return usageError("--var: %w", wrong)
	}
	d := task.Delivery(p.delivery)
	_, known := confirmOf(p.confirm)
	switch {
	case p.given("confirm") && !known:
		return usageError("--confirm %q is not known: give merge=code or merge=none", p.confirm)
	case p.given("delivery") && d != task.DeliverLocal && !d.Pushes():
		return usageError("delivery %q is not known: give local, push or pr", p.delivery)
	case config.CheckSecret(p.forge.Token) != nil:
		return usageError("--forge-token: %w", config.CheckSecret(p.forge.Token))
	case p.taskAttempts < 0:
		return usageError("--max-task-attempts %d: give a positive integer, or 0 for no bound", p.taskAttempts)
	case p.dayAttempts < 0:
		return usageError("--max-day-attempts %d: give a positive integer, or 0 for no bound", p.dayAttempts)
	}
	return nil
}

// bounds says whether anything of the budget is given.
func (p *policyFlags) bounds() bool {
	return p.given("max-task-cost") || p.given("max-task-attempts") || p.given("max-day-cost") || p.given("max-day-attempts")
}

// budget is what is given, over what there is.
func (p *policyFlags) budget(b task.Budget) task.Budget {
	if p.given("max-task-cost") {
		b.TaskMicros = int64(p.taskCost)
	}
	if p.given("max-task-attempts") {
		b.TaskAttempts = p.taskAttempts
	}
	if p.given("max-day-cost") {
		b.DayMicros = int64(p.dayCost)
	}
	if p.given("max-day-attempts") {
		b.DayAttempts = p.dayAttempts
	}
	return b
}

// policy is what is given, for a new project.
func (p *policyFlags) policy() task.Policy {
	confirm, _ := confirmOf(p.confirm)
	return task.Policy{Confirm: confirm, Delivery: task.Delivery(p.delivery), Setup: p.setup, Teardown: p.teardown, Budget: p.budget(task.Budget{}), Forge: p.forge, Vars: task.Vars(nil).With(p.vars)}
}

// change puts what is given into a change, but for the budget: that needs the one
// before.
func (p *policyFlags) change(c *wire.ProjectChange) {
	if p.given("delivery") {
		d := task.Delivery(p.delivery)
		c.Delivery = &d
	}
	if confirm, ok := confirmOf(p.confirm); ok && p.given("confirm") {
		c.Confirm = &confirm
	}
	if p.given("var") {
		c.Vars = &p.vars
	}
	if p.given("setup") {
		c.Setup = &p.setup
	}
	if p.given("teardown") {
		c.Teardown = &p.teardown
	}
	if p.given("forge") || p.given("forge-url") || p.given("forge-repo") || p.given("forge-token") {
		c.Forge = &p.forge
	}
}

// confirmOf reads what --confirm says.
func confirmOf(text string) (c task.Confirm, ok bool) {
	switch text {
	case "merge=" + task.ConfirmCode:
		return task.Confirm{Merge: task.ConfirmCode}, true
	case "merge=", "merge=none":
		return task.Confirm{}, true
	}
	return task.Confirm{}, false
}

// confirmText says what a person must confirm, "" for nothing.
func confirmText(c task.Confirm) string {
	if c.Merge == "" {
		return ""
	}
	return "merge=" + c.Merge
}

// budgetText says what is bounded, "" if nothing is.
func budgetText(b task.Budget) string {
	var out []string
	add := func(limit int64, text string) {
		if limit > 0 {
			out = append(out, text)
		}
	}
	add(b.TaskMicros, dollars(b.TaskMicros)+" a task")
	add(int64(b.TaskAttempts), fmt.Sprintf("%d attempts a task", b.TaskAttempts))
	add(b.DayMicros, dollars(b.DayMicros)+" a day")
	add(int64(b.DayAttempts), fmt.Sprintf("%d attempts a day", b.DayAttempts))
	return strings.Join(out, ", ")
}

// policyText says what was laid down for a project, to be put behind other words.
func policyText(p task.Policy) string {
	out := ""
	if p.Delivery != "" {
		out += ", delivery " + string(p.Delivery)
	}
	if b := budgetText(p.Budget); b != "" {
		out += ", at most " + b
	}
	if c := confirmText(p.Confirm); c != "" {
		out += ", confirm " + c
	}
	return out
}
