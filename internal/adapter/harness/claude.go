package harness

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"time"

	"orange/internal/core/agent"
	"orange/internal/core/task"
)

// claude is Claude Code.
type claude struct{ root bool } // started by root

// claudeLocal is the file in which Claude Code keeps permissions that a person granted
// permanently.
const claudeLocal = ".claude/settings.local.json"

// Name implements Harness.
func (claude) Name() string { return "claude" }

// Program implements Harness.
func (claude) Program() string { return "claude" }

// EffortLevels implements Harness.
func (claude) EffortLevels() []string { return effortsOf("claude") }

// PlanLaunch implements Harness.
func (c claude) PlanLaunch(l Launch) (Plan, error) {
	if err := l.checkLaunch(c); err != nil {
		return Plan{}, err
	}
	prompt, err := l.promptArgument(beginsWith("/")) // it would be a slash command
	if err != nil {
		return Plan{}, err
	}
	settings := filepath.Join(l.Dir, "claude-settings.json")
	argv := []string{l.program("claude")}
	if !l.Interactive {
		argv = append(argv, "-p", "--output-format", "stream-json", "--verbose")
	}
	argv = append(argv, claudePermissions(l)...)
	argv = append(argv, "--settings", settings)
	switch {
	case l.Resume != "":
		argv = append(argv, "--resume", l.Resume)
	case l.Session != "":
		argv = append(argv, "--session-id", l.Session)
	}
	if l.Effort != "" {
		argv = append(argv, "--effort", l.Effort)
	}
	if l.Model != "" {
		argv = append(argv, "--model", l.Model)
	}
	if l.ReadOnly {
		argv = append(argv, "--disallowedTools="+claudeRules())
	}
	argv = append(argv, l.flags()...)
	if prompt != "" {
		argv = append(argv, "--", prompt)
	}
	text, err := c.settingsJSON(l)
	return Plan{
		Plan: agent.Plan{Argv: argv, Env: c.extraEnv()}, Excludes: []string{claudeLocal},
		Files: []File{{Path: settings, Text: text, Mode: 0o600}},
	}, err
}

// claudePermissions returns the option for what the agent may do without asking.
func claudePermissions(l Launch) []string {
	switch l.Permissions {
	case agent.AllowEdits:
		return []string{"--permission-mode", "acceptEdits"}
	case agent.AskPermission:
		return []string{"--permission-mode", "default"}
	}
	return []string{"--dangerously-skip-permissions"}
}

// extraEnv answers two dialogs in advance: the worktree is trusted, because Orange created it,
// and root may run without permission checks.
func (c claude) extraEnv() []string {
	env := []string{"CLAUDE_CODE_SANDBOXED=1"}
	if c.root {
		env = append(env, "IS_SANDBOX=1")
	}
	return env
}

func claudeRules() string {
	var rules []string
	for _, command := range publishingCommands() {
		rules = append(rules, "Bash("+command+":*)")
	}
	return strings.Join(rules, ",")
}

// settingsJSON returns the settings that Claude Code reads in addition to those of the user and
// the project.
func (claude) settingsJSON(l Launch) ([]byte, error) {
	hooks := map[string]any{}
	for _, event := range []string{"SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "PermissionRequest", "Stop", "StopFailure", "SessionEnd"} {
		addHook(hooks, event, "", l.hookLine(event))
	}
	addHook(hooks, "Notification", "elicitation_dialog", l.hookLine("Notification"))
	settings := map[string]any{"skipDangerousModePermissionPrompt": true}
	if l.asks() { // a person is not asked about every report
		settings["permissions"] = map[string]any{"allow": []string{"Bash(orange task:*)", "Edit(TASK.md)", "Write(TASK.md)"}}
	}
	if len(hooks) > 0 {
		settings["hooks"] = hooks
	}
	return json.MarshalIndent(settings, "", "  ")
}

// addHook adds one command for an event.
func addHook(hooks map[string]any, event, matcher, line string) {
	if line == "" {
		return
	}
	group := map[string]any{"hooks": []any{map[string]any{"type": "command", "command": line, "timeout": 10}}}
	if matcher != "" {
		group["matcher"] = matcher
	}
	hooks[event] = []any{group}
}

// ParseHook implements Harness.
func (claude) ParseHook(event string, payload []byte, now time.Time) (agent.Notice, error) {
	var e hookEvent
	if err := decodePayload("claude", event, payload, &e); err != nil {
		return agent.Notice{}, err
	}
	n := e.sessionNotice()
	switch event {
	case "SessionStart", "SessionEnd":
	case "UserPromptSubmit":
		n.Condition.Name, n.Prompted = task.Running, true
	case "PreToolUse", "PostToolUse", "PostToolUseFailure":
		n.Condition.Name = task.Running
	case "PermissionRequest":
		return e.permissionNotice(), nil
	case "Notification":
		n.Condition.Name, n.Condition.Detail = claudeNotification(e.NotificationType), cleanLine(e.Message, maxDetail)
	case "Stop":
		n.Condition.Name, n.Final = task.Idle, cleanProse(e.LastMessage)
		if len(e.Background) > 0 {
			n.Condition.Name = task.Running // it continues when they end
		}
	case "StopFailure":
		addProviderError(&n, e, now)
	default:
		return agent.Notice{}, nil
	}
	return n, nil
}

func claudeNotification(kind string) string {
	switch kind {
	case "permission_prompt":
		return task.WaitingPermission
	case "elicitation_dialog":
		return task.WaitingInput
	case "idle_prompt":
		return task.Idle
	}
	return ""
}

// addProviderError records a turn that ended in an error of the provider.
func addProviderError(n *agent.Notice, e hookEvent, now time.Time) {
	text := strings.TrimSpace(e.LastMessage + " " + e.ErrorDetails)
	switch e.Error {
	case "rate_limit":
		if !addLimit(n, text, now) {
			addLimit(n, "rate limit: "+text, now)
		}
	case "authentication_failed", "oauth_org_not_allowed", "billing_error":
		n.Condition.Name, n.Condition.Detail = task.WaitingInput, cleanLine(text, maxDetail)
	default:
		n.Condition.Name, n.Condition.Detail = task.TurnFailed, cleanLine(text, maxDetail)
	}
}
