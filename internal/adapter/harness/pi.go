package harness

import (
	"path/filepath"
	"time"

	"orange/internal/core/agent"
	"orange/internal/core/task"
)

// pi is the pi coding agent.
type pi struct{}

// Name implements Harness.
func (pi) Name() string { return "pi" }

// Program implements Harness.
func (pi) Program() string { return "pi" }

// EffortLevels implements Harness.
func (pi) EffortLevels() []string { return effortsOf("pi") }

// PlanLaunch implements Harness.
func (p pi) PlanLaunch(l Launch) (Plan, error) {
	if err := l.checkLaunch(p); err != nil {
		return Plan{}, err
	}
	prompt, err := l.promptArgument(beginsWith("-@/")) // an option, a file, a command
	if err != nil {
		return Plan{}, err
	}
	file := File{Path: filepath.Join(l.Dir, "pi-extension.js"), Mode: 0o600}
	values := map[string]any{"hook": l.hookList(), "posts": []string{}, "refusal": refusal}
	if l.ReadOnly {
		values["posts"] = publishingCommands()
	}
	if file.Text, err = pluginSource("pi.js", values); err != nil {
		return Plan{}, err
	}
	argv := []string{l.program("pi"), "--extension", file.Path}
	if !l.Interactive {
		argv = append(argv, "--mode", "json")
	}
	if l.Resume != "" {
		argv = append(argv, "--session", l.Resume)
	}
	if l.Effort != "" {
		argv = append(argv, "--thinking", l.Effort)
	}
	if l.Model != "" {
		argv = append(argv, "--model", l.Model)
	}
	argv = append(argv, l.flags()...)
	if !l.Interactive {
		argv = append(argv, "--print")
	}
	if prompt != "" {
		argv = append(argv, prompt)
	}
	return Plan{Plan: agent.Plan{Argv: argv}, Files: []File{file}}, nil
}

// piEvent is the payload that Orange's extension sends.
type piEvent struct {
	hookEvent
	Final   string `json:"final"`
	Failure string `json:"error"`
	Usage   spent  `json:"usage"`
}

// ParseHook implements Harness.
func (pi) ParseHook(event string, payload []byte, now time.Time) (agent.Notice, error) {
	var e piEvent
	if err := decodePayload("pi", event, payload, &e); err != nil {
		return agent.Notice{}, err
	}
	n := e.sessionNotice()
	switch event {
	case "session_start", "session_shutdown":
	case "input":
		n.Condition.Name, n.Prompted = task.Running, true
	case "agent_start":
		n.Condition.Name = task.Running
	case "agent_end":
		endTurn(&n, e.Final, e.Failure, now)
		n.Usage = someUsage(e.Usage.toTaskUsage())
	default:
		return agent.Notice{}, nil
	}
	return n, nil
}
