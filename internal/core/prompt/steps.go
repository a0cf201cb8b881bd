package prompt

import (
	"slices"
	"strings"

	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// stepPairs returns the variables of prompts for steps.
func (f *Facts) stepPairs() []string {
	name := workflow.EnhancementName(f.Task.Branch)
	s := f.taskState()
	return []string{
		"{task_id}", string(f.Task.ID), "{agent}", f.Effect.Role, "{task_description}", orDash(f.Task.Summary),
		"{expected_statuses}", ExpectedCodes(f.Def, f.Task.Status), "{input_instruction}", InputInstruction(f.stepInput(s)),
		"{required_output_filename}", s.Output, "{enhancement_name}", name, "{enhancement_dir}", enhancements + name,
	}
}

// enhancements is the folder in which steps leave their files for each other.
const enhancements = "enhancements/"

// withDollarNames lets a prompt use ${name} for {name}.
func withDollarNames(pairs []string) []string {
	out := make([]string, 0, 2*len(pairs))
	for i := 0; i+1 < len(pairs); i += 2 {
		out = append(out, "$"+pairs[i], pairs[i+1], pairs[i], pairs[i+1])
	}
	return out
}

// stepInput returns what the agent of a state works from, with its variables filled in.
func (f *Facts) stepInput(s *workflow.State) string {
	return ResolveInput(s.Input, workflow.EnhancementName(f.Task.Branch), f.previousAgent(s))
}

// ResolveInput fills in the input of a step. Without a previous step, its folder is that of the
// enhancement.
func ResolveInput(input, enhancement, before string) string {
	folder := enhancements + enhancement
	previous := folder
	if before != "" {
		previous += "/" + before
	}
	return strings.NewReplacer(withDollarNames([]string{
		"{enhancement_name}", enhancement, "{enhancement_dir}", folder, "{previous_step}", previous,
	})...).Replace(input)
}

// InputInstruction returns the instruction about what an agent works from: only the task, a
// folder or a file.
func InputInstruction(input string) string {
	switch input = strings.TrimSpace(input); {
	case input == "" || input == "null":
		return "Work from the task description provided."
	case strings.HasSuffix(input, "/"):
		return "Read all files in the folder " + input + " and work from them."
	}
	return "Read the file " + input + " and work from it."
}

// previousAgent returns the agent of the step that led to a state: the last one that reported,
// if its codes lead here, otherwise the nearest one in the file whose codes do.
func (f *Facts) previousAgent(s *workflow.State) string {
	var found []string
	for i := range f.Def.States {
		from := &f.Def.States[i]
		if from.Role == "" || from.Name == s.Name || !leadsTo(f.Def, from.Name, s.Name) {
			continue
		}
		if said := f.Task.LastReport; said != nil && said.State == from.Name {
			return from.Role
		}
		found = append(found, from.Role)
	}
	steps := f.Def.Steps()
	at := slices.Index(steps, s.Name)
	for i := at - 1; i >= 0; i-- {
		if from, _ := f.Def.StateNamed(steps[i]); slices.Contains(found, from.Role) {
			return from.Role
		}
	}
	if len(found) > 0 && at > 0 {
		return found[0]
	}
	return ""
}

// leadsTo reports whether an outcome leads from one state to another, directly or through a
// state in which a person starts it.
func leadsTo(def *workflow.Definition, from, to string) bool {
	for _, i := range def.EdgesFrom(from) {
		e := &def.Edges[i]
		if !answersOutcome(e) {
			continue
		}
		next, _ := def.StateNamed(e.To)
		waits := next.Kind == workflow.HumanDo && slices.ContainsFunc(def.EdgesFrom(e.To), func(k int) bool { return def.Edges[k].To == to })
		if e.To == to || waits {
			return true
		}
	}
	return false
}

func answersOutcome(e *workflow.Edge) bool {
	return slices.ContainsFunc(e.On, func(t workflow.Trigger) bool { return t.Kind == workflow.OnOutcome })
}

// ExpectedCodes returns the codes that an agent may report in a state, and what each does.
func ExpectedCodes(def *workflow.Definition, state string) string {
	s, ok := def.StateNamed(state)
	if !ok {
		return ""
	}
	var goesOn, completes, halts, seen []string
	for _, i := range def.EdgesFrom(state) {
		e := &def.Edges[i]
		if s.Role != "" && len(e.By) > 0 && !e.PermitsActor(task.Actor(s.Role)) {
			continue
		}
		for _, t := range e.On {
			if t.Kind != workflow.OnOutcome || slices.Contains(seen, t.Value) {
				continue // of several edges for a code, the first describes it
			}
			seen = append(seen, t.Value)
			line := "- `" + t.Value + "`"
			if e.Describe != "" {
				line += " - " + oneLine(e.Describe)
			}
			switch to, _ := def.StateNamed(def.StateBehindCheck(e)); {
			case e.Hold || to.Kind == workflow.Halt:
				halts = append(halts, line)
			case to.Kind == workflow.Terminal:
				completes = append(completes, line)
			case to.Kind == workflow.HumanDo:
				goesOn = append(goesOn, line+" (a person starts what follows)")
			default:
				goesOn = append(goesOn, line)
			}
		}
	}
	return listStatuses(goesOn, completes, halts)
}

func listStatuses(goesOn, completes, halts []string) string {
	var b strings.Builder
	group := func(title string, lines []string) {
		if len(lines) > 0 {
			b.WriteString("**" + title + ":**\n" + strings.Join(lines, "\n") + "\n\n")
		}
	}
	group("Completion Statuses (workflow continues automatically)", goesOn)
	group("Completion Statuses (workflow is complete)", completes)
	group("Halt Statuses (stops workflow, requires human intervention)", halts)
	if b.Len() == 0 {
		return ""
	}
	b.WriteString("Use a completion status only if your part is done and its result is there.")
	if len(halts) > 0 {
		b.WriteString(" Use a halt status if it cannot be done as things are, with the reason behind a colon, as in `" + haltExample(halts) + ": what is missing`.")
	}
	return b.String()
}

func haltExample(halts []string) string {
	code, _, _ := strings.Cut(strings.TrimPrefix(halts[0], "- `"), "`")
	return code
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
