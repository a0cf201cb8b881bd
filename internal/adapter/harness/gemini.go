package harness

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"orange/internal/core/agent"
	"orange/internal/core/task"
)

// gemini is the Gemini CLI.
type gemini struct{}

// geminiSettings is the only file in a worktree from which Gemini reads hooks. It cannot be
// told to read another file.
const geminiSettings = ".gemini/settings.json"

// Name implements Harness.
func (gemini) Name() string { return "gemini" }

// Program implements Harness.
func (gemini) Program() string { return "gemini" }

// EffortLevels implements Harness.
func (gemini) EffortLevels() []string { return effortsOf("gemini") }

// PlanLaunch implements Harness.
func (g gemini) PlanLaunch(l Launch) (Plan, error) {
	if err := l.checkLaunch(g); err != nil {
		return Plan{}, err
	}
	prompt, err := l.promptArgument(beginsWith("/")) // it would be a slash command
	if err != nil {
		return Plan{}, err
	}
	plan := Plan{Plan: agent.Plan{Env: []string{"GEMINI_CLI_TRUST_WORKSPACE=true"}}}
	argv := []string{l.program("gemini"), geminiApproval(l.Permissions), "--skip-trust"}
	if !l.Interactive {
		argv = append(argv, "--output-format=stream-json")
	}
	switch {
	case l.Resume != "":
		argv = append(argv, "--resume="+l.Resume)
	case l.Session != "":
		argv = append(argv, "--session-id="+l.Session)
	}
	if l.Model != "" {
		argv = append(argv, "--model="+l.Model)
	}
	if l.ReadOnly {
		policy := File{Path: filepath.Join(l.Dir, "gemini-policy.toml"), Text: geminiPolicy(), Mode: 0o600}
		plan.Files = append(plan.Files, policy)
		argv = append(argv, "--policy="+policy.Path)
	}
	argv = append(argv, l.flags()...)
	switch {
	case prompt == "":
	case l.Interactive:
		argv = append(argv, "--prompt-interactive="+prompt)
	default:
		argv = append(argv, "--prompt="+prompt)
	}
	plan.Argv = argv
	return plan, g.addSettings(l, &plan)
}

// geminiApproval returns the option for what the agent may do without asking.
func geminiApproval(mode string) string {
	switch mode {
	case agent.AllowEdits:
		return "--approval-mode=auto_edit"
	case agent.AskPermission:
		return "--approval-mode=default"
	}
	return "--yolo"
}

// addSettings adds Orange's hooks to the worktree's settings. It leaves settings that the
// repository tracks alone, with or without hooks: a changed file would end up in a commit.
func (gemini) addSettings(l Launch, plan *Plan) error {
	plan.Unhooked = true
	if len(l.Hook) == 0 || l.Workspace == "" {
		return nil
	}
	path := filepath.Join(l.Workspace, filepath.FromSlash(geminiSettings))
	if have, err := os.ReadFile(path); err == nil && !strings.Contains(string(have), `"name": "`+ourHook+`"`) {
		return nil
	}
	plan.Unhooked = false
	hooks := map[string]any{}
	for _, event := range []string{"SessionStart", "BeforeAgent", "AfterAgent", "AfterTool", "Notification", "SessionEnd"} {
		hook := map[string]any{"type": "command", "name": ourHook, "command": l.hookLine(event), "timeout": 10000}
		hooks[event] = []any{map[string]any{"hooks": []any{hook}}}
	}
	text, err := json.Marshal(map[string]any{"hooks": hooks})
	plan.Files = append(plan.Files, File{Path: path, Merge: true, Text: text, Mode: 0o600})
	plan.Excludes = []string{geminiSettings}
	return err
}

// onlyOurHooks reports whether settings contain Orange's hooks and nothing else.
func onlyOurHooks(text []byte) bool {
	var settings map[string]json.RawMessage
	var hooks map[string][]struct {
		Hooks []struct{ Name string }
	}
	if json.Unmarshal(text, &settings) != nil || len(settings) != 1 || json.Unmarshal(settings["hooks"], &hooks) != nil {
		return false
	}
	for _, event := range hooks {
		for _, matcher := range event {
			for _, hook := range matcher.Hooks {
				if hook.Name != ourHook {
					return false
				}
			}
		}
	}
	return true
}

// geminiPolicy returns a policy that refuses a reviewer the commands that publish.
func geminiPolicy() []byte {
	var prefixes []string
	for _, command := range publishingCommands() {
		prefixes = append(prefixes, tomlString(command))
	}
	return fmt.Appendf(nil, "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = [%s]\ndecision = \"deny\"\npriority = 900\ndenyMessage = %s\n",
		strings.Join(prefixes, ", "), tomlString(refusal))
}

// ParseHook implements Harness.
func (gemini) ParseHook(event string, payload []byte, _ time.Time) (agent.Notice, error) {
	var e hookEvent
	if err := decodePayload("gemini", event, payload, &e); err != nil {
		return agent.Notice{}, err
	}
	n := e.sessionNotice()
	switch event {
	case "SessionStart", "SessionEnd":
	case "BeforeAgent":
		n.Condition.Name, n.Prompted = task.Running, true
	case "AfterTool":
		n.Condition.Name = task.Running
	case "Notification":
		if e.NotificationType == "ToolPermission" {
			n.Condition.Name, n.Condition.Detail = task.WaitingPermission, geminiPermission(e)
		}
	case "AfterAgent":
		n.Condition.Name, n.Final = task.Idle, cleanProse(geminiWords(e.Response, n.Transcript))
	default:
		return agent.Notice{}, nil
	}
	return n, nil
}

func geminiPermission(e hookEvent) string {
	var d struct {
		Title   string `json:"title"`
		Command string `json:"command"`
		File    string `json:"fileName"`
		Tool    string `json:"toolName"`
	}
	if json.Unmarshal(e.Details, &d) != nil || d.Command+d.File+d.Tool == "" {
		return cleanLine(e.Message, maxDetail)
	}
	return cleanLine(d.Title+": "+d.Command+d.File+d.Tool, maxDetail)
}
