package harness

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"time"

	"orange/internal/core/agent"
	"orange/internal/core/task"
)

// codex is the Codex CLI of OpenAI.
type codex struct{}

// Name implements Harness.
func (codex) Name() string { return "codex" }

// Program implements Harness.
func (codex) Program() string { return "codex" }

// EffortLevels implements Harness.
func (codex) EffortLevels() []string { return effortsOf("codex") }

// PlanLaunch implements Harness. It passes everything in options, and touches no file of the
// user or the worktree.
func (c codex) PlanLaunch(l Launch) (Plan, error) {
	if err := l.checkLaunch(c); err != nil {
		return Plan{}, err
	}
	prompt, err := l.promptArgument(func(p string) bool { return p == "-" }) // Codex would read its input
	if err != nil {
		return Plan{}, err
	}
	var files []File
	options := append(codexPermissions(l.Permissions), "--dangerously-bypass-hook-trust")
	options = append(options, c.configOptions(l)...)
	if l.ReadOnly {
		guard := File{Path: filepath.Join(l.Dir, "codex-guard.sh"), Text: guardScript(), Mode: 0o700}
		files = append(files, guard)
		options = append(options, "-c", codexHook("PreToolUse", "/bin/sh "+shellWord(guard.Path)))
	}
	if l.Model != "" {
		options = append(options, "--model", l.Model)
	}
	options = append(options, l.flags()...)
	var argv []string
	switch {
	case !l.Interactive:
		argv = append([]string{l.program("codex"), "exec", "--json", "--skip-git-repo-check"}, options...)
		if l.Resume != "" {
			argv = append(argv, "resume", l.Resume)
		}
	case l.Resume != "":
		argv = append(append([]string{l.program("codex"), "resume", "--no-daemon"}, options...), l.Resume)
	default:
		argv = append([]string{l.program("codex"), "--no-daemon"}, options...)
	}
	if prompt != "" {
		argv = append(argv, "--", prompt)
	}
	return Plan{Plan: agent.Plan{Argv: argv}, Files: files}, nil
}

// codexPermissions returns the options for what the agent may do without asking: Codex asks when its model wants
// to do what its sandbox forbids.
func codexPermissions(mode string) []string {
	switch mode {
	case agent.AllowEdits:
		return []string{"--ask-for-approval", "on-request", "--sandbox", "workspace-write"}
	case agent.AskPermission:
		return []string{"--ask-for-approval", "on-request", "--sandbox", "read-only"}
	}
	return []string{"--dangerously-bypass-approvals-and-sandbox"}
}

// configOptions returns what Orange sets on top of the user's configuration: its hooks, trust
// in the worktree that it created, no dialog about cheaper models, and no login shell for
// commands: a system profile may set another PATH, in which orange is not found.
func (codex) configOptions(l Launch) []string {
	var out []string
	for _, event := range []string{"SessionStart", "UserPromptSubmit", "PostToolUse", "PermissionRequest", "Stop"} {
		if line := l.hookLine(event); line != "" {
			out = append(out, "-c", codexHook(event, line))
		}
	}
	if l.Workspace != "" {
		out = append(out, "-c", "projects={"+tomlString(l.Workspace)+`={trust_level="trusted"}}`)
	}
	out = append(out, "-c", "notice.hide_rate_limit_model_nudge=true", "-c", "allow_login_shell=false")
	if l.Effort != "" {
		out = append(out, "-c", "model_reasoning_effort="+tomlString(l.Effort))
	}
	return out
}

func codexHook(event, line string) string {
	return "hooks." + event + `=[{hooks=[{type="command",command=` + tomlString(line) + `,timeout=10}]}]`
}

// tomlString returns s as a TOML string. JSON strings are TOML strings, except for one
// character.
func tomlString(s string) string {
	text, err := json.Marshal(strings.ToValidUTF8(s, ""))
	if err != nil {
		return `""`
	}
	return strings.ReplaceAll(string(text), "\x7f", `\u007f`)
}

// guardScript returns a hook that refuses a shell command that publishes, at the start of a
// line or after another command.
func guardScript() []byte {
	var words []string
	for _, command := range publishingCommands() {
		words = append(words, shellWord(command))
	}
	return []byte("#!/bin/sh\n# Refuses what a reviewer may not run: Codex hands over the command before it runs it.\n" +
		"asked=$(cat)\nfor command in " + strings.Join(words, " ") + "; do\n\tcase $asked in\n" +
		"\t*'\"command\":\"'\"$command\"* | *\"; $command\"* | *\"&& $command\"* | *\"|| $command\"* | *'\\n'\"$command\"*)\n" +
		"\t\techo " + shellWord(refusal) + " >&2\n\t\texit 2 ;;\n\tesac\ndone\n")
}

// codexTurn is the payload that Codex passes to the notify program of a user's configuration.
type codexTurn struct {
	Type    string `json:"type"`
	Thread  string `json:"thread-id"`
	Message string `json:"last-assistant-message"`
}

// ParseHook implements Harness.
func (codex) ParseHook(event string, payload []byte, _ time.Time) (agent.Notice, error) {
	if event == "notify" {
		var turn codexTurn
		if err := decodePayload("codex", event, payload, &turn); err != nil || turn.Type != "agent-turn-complete" {
			return agent.Notice{}, err
		}
		n := hookEvent{Session: turn.Thread}.sessionNotice()
		n.Condition.Name, n.Final = task.Idle, cleanProse(turn.Message)
		return n, nil
	}
	var e hookEvent
	if err := decodePayload("codex", event, payload, &e); err != nil {
		return agent.Notice{}, err
	}
	n := e.sessionNotice()
	switch event {
	case "SessionStart", "SessionEnd":
	case "UserPromptSubmit":
		n.Condition.Name, n.Prompted = task.Running, true
	case "PreToolUse", "PostToolUse":
		n.Condition.Name = task.Running
	case "PermissionRequest":
		return e.permissionNotice(), nil
	case "Stop":
		n.Condition.Name, n.Final = task.Idle, cleanProse(e.LastMessage)
	default:
		return agent.Notice{}, nil
	}
	return n, nil
}
