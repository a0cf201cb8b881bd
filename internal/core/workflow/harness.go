package workflow

import (
	"slices"
	"strings"
	"unicode"

	"orange/internal/core/task"
)

// readChoices reads the agents that may run a role: one, or several in order of preference.
// Each is a name, or a name with the model and the effort it runs with.
func readChoices(v value, what string) []task.Choice {
	var out []task.Choice
	for _, item := range v.readList() {
		c := task.Choice{}
		if item.describeKind() != "a mapping" {
			c.Harness = item.readText(what)
		} else {
			for _, p := range item.readPairs(what) {
				switch p.key {
				case "harness":
					c.Harness = p.val.readText(what)
				case "model":
					c.Model = p.val.readText(what)
				case "effort":
					c.Effort = p.val.readText(what)
				default:
					unknownKey(v.r, p, what, "harness", "model", "effort")
				}
			}
		}
		checkChoice(v.r, item.pos, what, c)
		if v.r.err == nil && slices.Contains(out, c) {
			v.r.failAt(item.pos, "%s: %s is named twice: each is tried once", what, c)
		}
		out = append(out, c)
	}
	if v.r.err == nil && len(out) == 0 {
		v.r.failAt(v.pos, "%s: the list is empty: name a harness such as claude, or drop the key", what)
	}
	return out
}

// checkChoice refuses what cannot name an agent. Whether the agent exists is known only when it
// is started.
func checkChoice(r *reader, pos Pos, what string, c task.Choice) {
	if r.err == nil && c.Harness == "" {
		r.failAt(pos, "%s: a choice names no harness: use %s, %s, or a harness such as claude", what, TaskHarness, ReviewHarness)
	}
	for _, text := range []string{c.Harness, c.Model, c.Effort} {
		if r.err == nil && (strings.HasPrefix(text, "-") || strings.ContainsFunc(text, unicode.IsControl)) {
			r.failAt(pos, "%s: %q begins with a dash or has control characters: give a name", what, text)
		}
	}
}

// settleChoices sets the agents of a role. The model and the effort beside harness: belong to
// the one agent that it names.
func (role *Role) settleChoices(r *reader, pos Pos, model, effort string) {
	if r.err == nil && model+effort != "" && len(role.Choices) > 1 {
		r.failAt(pos, "role %s: several harnesses with one model or effort: write each as {harness: NAME, model: MODEL, effort: EFFORT}", role.Name)
		return
	}
	if len(role.Choices) == 0 {
		role.Choices = []task.Choice{{Harness: TaskHarness}}
	}
	first := &role.Choices[0]
	if model != "" {
		first.Model = model
	}
	if effort != "" {
		first.Effort = effort
	}
	checkChoice(r, pos, "role "+role.Name, *first)
	role.Harness = first.Harness
	if len(role.Choices) == 1 && (*first == task.Choice{Harness: TaskHarness} || *first == task.Choice{Harness: ReviewHarness}) {
		role.Choices = nil
	}
}
