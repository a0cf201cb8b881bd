//go:build agents

package agents_test

import (
	"slices"

	"orange/internal/scriptedmodel"
)

// The scripts of the main job. Each command is one call of the agent's own shell tool.
const (
	workerScript   = "worker"
	reviewerScript = "reviewer"
)

// Prompts of the built-in workflow by which the model identifies the role.
const (
	toWorker   = "You carry this task"
	toReviewer = "# Review:"
	toResumed  = "# Resuming:"
)

// renameSection renames a section of TASK.md, so that a later section with its name is new.
func renameSection(section string) string {
	return `cp TASK.md "$HOME/task" && sed 's/^## ` + section + `$/## Earlier ` + section + `/' "$HOME/task" >TASK.md`
}

// mainJob plans, works, hands over, and repeats that when a person requests changes. The second half belongs to the
// same script: an agent that gets there has seen the first half.
func mainJob() []scriptedmodel.Script {
	shell := func(command string) scriptedmodel.Turn { return scriptedmodel.Turn{Shell: command} }
	return []scriptedmodel.Script{
		{Name: workerScript, When: toWorker, Turns: []scriptedmodel.Turn{
			shell(`printf '\n## Plan\n\nAPPROACH: write it\nTOUCHING: a.txt\n' >>TASK.md`),
			shell(`orange task update --status working`),
			shell(`echo one >a.txt && git add a.txt && git commit -qm one`),
			shell(`printf '\n## Handoff\n\nDONE: one\n' >>TASK.md`),
			shell(`orange task update --status agent-review`),
			{Text: "It is handed over."},
			shell(`grep -q 'rounder corners' TASK.md && echo two >a.txt && git add a.txt && git commit -qm two`),
			shell(renameSection("Handoff") + ` && printf '\n## Handoff\n\nDONE: two\n' >>TASK.md`),
			shell(`orange task update --status agent-review`),
			{Text: "It is handed over again."},
		}},
		{Name: reviewerScript, When: toReviewer, Turns: []scriptedmodel.Turn{
			shell(renameSection("Review") + ` && git log -1 --format='%n## Review%n%nVerdict: PASS%n%nRead %h.' >>TASK.md`),
			shell(`orange task update --status reviewing`),
			{Text: "It is reviewed."},
		}},
	}
}

// firstHalf is how many turns of the worker come before a person requests changes.
const firstHalf = 6

// usedUp is a provider whose limit lasts an hour. pi treats such a response as an order to wait and reports nothing; it
// only gets an overload error.
func usedUp(agent string) []scriptedmodel.Script {
	turn := scriptedmodel.Turn{Status: 429, ResetSeconds: 3600, Message: "You have used up your limit."}
	if agent == "pi" {
		turn.ResetSeconds = 0
	}
	return []scriptedmodel.Script{{Name: workerScript, When: toWorker, Turns: []scriptedmodel.Turn{turn}}}
}

// heldUp is a worker that runs something long the first time.
func heldUp() []scriptedmodel.Script {
	scripts := mainJob()
	worker := &scripts[0]
	long := scriptedmodel.Turn{Shell: `test -e "$HOME/busy" || { touch "$HOME/busy"; sleep 600; }`}
	worker.Turns = slices.Insert(worker.Turns[:firstHalf:firstHalf], 2, long)
	return scripts
}

// usedUpForNow is a provider whose limit ends after a while.
func usedUpForNow(agent string) []scriptedmodel.Script {
	scripts := mainJob()
	turn := usedUp(agent)[0].Turns[0]
	turn.ResetSeconds, turn.Times = 60, 1
	scripts[0].Turns = slices.Insert(scripts[0].Turns[:firstHalf:firstHalf], 0, turn)
	return scripts
}
