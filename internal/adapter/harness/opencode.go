package harness

import (
	"encoding/json"
	"errors"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"orange/internal/core/agent"
	"orange/internal/core/task"
)

// opencode is the opencode CLI.
type opencode struct{}

// Name implements Harness.
func (opencode) Name() string { return "opencode" }

// Program implements Harness.
func (opencode) Program() string { return "opencode" }

// EffortLevels implements Harness.
func (opencode) EffortLevels() []string { return effortsOf("opencode") }

// inlineConfig is the variable with configuration that opencode reads on top of its files.
const inlineConfig = "OPENCODE_CONFIG_CONTENT"

// PlanLaunch implements Harness.
func (o opencode) PlanLaunch(l Launch) (Plan, error) {
	if err := l.checkLaunch(o); err != nil {
		return Plan{}, err
	}
	argv, err := o.buildArgv(l)
	if err != nil {
		return Plan{}, err
	}
	values := map[string]any{"hook": l.hookList(), "transcript": filepath.Join(l.Dir, opencodeTranscript)}
	if l.Interactive && l.Resume != "" && l.Prompt != "" {
		values["resume"], values["promptFile"] = l.Resume, l.PromptFile
	}
	file := File{Path: filepath.Join(l.Dir, "opencode-plugin.js"), Mode: 0o600}
	if file.Text, err = pluginSource("opencode.js", values); err != nil {
		return Plan{}, err
	}
	config, err := o.buildConfig(l, file.Path)
	if err != nil {
		return Plan{}, err
	}
	return Plan{Plan: agent.Plan{Argv: argv, Env: []string{inlineConfig + "=" + config}}, Files: []File{file}}, nil
}

// buildArgv returns the command line. Headless, opencode gets the prompt on its standard input,
// because it strips outer quotes from an argument. At a terminal, opencode accepts no prompt
// for a session that it resumes; the plugin passes it on.
func (opencode) buildArgv(l Launch) ([]string, error) {
	var options []string
	if l.Resume != "" {
		options = append(options, "--session", l.Resume)
	}
	if l.Model != "" {
		options = append(options, "--model", l.Model)
	}
	options = append(options, l.flags()...)
	if !l.Interactive {
		if l.Prompt == "" || l.PromptFile == "" {
			return nil, errors.New("opencode without a terminal needs a prompt in a file: give one")
		}
		argv := []string{"sh", "-c", "exec " + shellWord(l.program("opencode")) + ` "$@" <"$0"`, l.PromptFile, "run", "--format", "json", "--auto"}
		return append(argv, options...), nil
	}
	argv := []string{l.program("opencode")}
	if !l.asks() {
		argv = append(argv, "--auto")
	}
	argv = append(argv, options...)
	if l.Resume != "" {
		if l.Prompt != "" && l.PromptFile == "" {
			return nil, errors.New("opencode resumes a session only with a prompt in a file: give one")
		}
		return argv, nil
	}
	prompt, err := l.promptArgument(isQuoted)
	if prompt != "" {
		argv = append(argv, "--prompt="+prompt)
	}
	return argv, err
}

// isQuoted reports whether a text is in quotes, which opencode would strip.
func isQuoted(s string) bool {
	return len(s) > 1 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0]
}

// buildConfig adds Orange's plugin, the effort and a reviewer's rules to the configuration in
// the user's environment.
func (opencode) buildConfig(l Launch, pluginPath string) (string, error) {
	ours := map[string]any{"plugin": []any{(&url.URL{Scheme: "file", Path: pluginPath}).String()}}
	if l.Effort != "" {
		ours["agent"] = map[string]any{"build": map[string]any{"variant": l.Effort}}
	}
	if l.ReadOnly || l.asks() {
		rules, permission := map[string]any{}, map[string]any{}
		if l.asks() {
			rules["*"], rules["orange task *"] = "ask", "allow"
		}
		if l.Permissions == agent.AskPermission {
			permission["edit"], permission["webfetch"] = "ask", "ask"
		}
		for _, command := range publishingCommands() {
			if l.ReadOnly {
				rules[command+"*"] = "deny"
			}
		}
		permission["bash"] = rules
		ours["permission"] = permission
	}
	text, err := json.Marshal(ours)
	if err != nil {
		return "", err
	}
	theirs := ""
	if l.Env != nil {
		theirs = strings.TrimSpace(l.Env(inlineConfig))
	}
	if theirs == "" {
		return string(text), nil
	}
	merged, err := mergeJSON([]byte(theirs), text, "plugin")
	if err != nil {
		return "", errors.New(inlineConfig + " is not JSON: fix it or unset it")
	}
	return string(merged), nil
}

// opencodeEvent is the payload that Orange's plugin sends.
type opencodeEvent struct {
	Properties struct {
		Session string `json:"sessionID"`
		Status  struct {
			Type    string `json:"type"`
			Message string `json:"message"`
			Next    count  `json:"next"` // milliseconds
		} `json:"status"`
		Permission string   `json:"permission"`
		Patterns   []string `json:"patterns"`
		Metadata   struct {
			Command string `json:"command"`
			Path    string `json:"filepath"`
		} `json:"metadata"`
		Questions json.RawMessage `json:"questions"`
	} `json:"properties"`
	Final   string `json:"final"`
	Failure string `json:"failure"`
	Model   string `json:"model"`
	Usage   spent  `json:"usage"`
}

// ParseHook implements Harness.
func (opencode) ParseHook(event string, payload []byte, now time.Time) (agent.Notice, error) {
	var e opencodeEvent
	if err := decodePayload("opencode", event, payload, &e); err != nil {
		return agent.Notice{}, err
	}
	p := e.Properties
	n := hookEvent{Session: p.Session}.sessionNotice()
	switch event {
	case "session.created":
	case "chat.message":
		n.Condition.Name, n.Prompted = task.Running, true
	case "session.status":
		n.Condition.Name = task.Running
		if p.Status.Type == "retry" {
			addRetry(&n, p.Status.Message, time.UnixMilli(int64(p.Status.Next)), now)
		}
	case "permission.asked":
		what := p.Metadata.Command + p.Metadata.Path
		if what == "" {
			what = strings.Join(p.Patterns, " ")
		}
		return agent.Notice{Condition: task.Condition{Name: task.WaitingPermission, Detail: cleanLine(p.Permission+": "+what, maxDetail)}}, nil
	case "question.asked":
		return agent.Notice{Condition: task.Condition{Name: task.WaitingInput, Detail: describeQuestion([]byte(`{"questions":` + string(orNull(p.Questions)) + `}`))}}, nil
	case "permission.replied", "question.replied", "question.rejected":
		return agent.Notice{Condition: task.Condition{Name: task.Running}}, nil
	case "session.idle":
		endTurn(&n, e.Final, e.Failure, now)
		n.Usage = someUsage(e.Usage.toTaskUsage())
		n.Model = modelName(e.Model)
	default:
		return agent.Notice{}, nil
	}
	return n, nil
}

// longRetry is a longer wait than a temporary problem of a provider causes.
const longRetry = 5 * time.Minute

// addRetry records an error after which opencode retries by itself. The text of the error comes
// from the provider; a long wait means a limit even if the text does not say so.
func addRetry(n *agent.Notice, text string, next, now time.Time) {
	if !addLimit(n, text, now) {
		if next.Sub(now) < longRetry {
			return
		}
		n.Condition.Name, n.Condition.Detail = task.Limited, cleanLine(text, maxDetail)
	}
	if next.Unix() > 0 {
		n.Condition.Until = clampLimit(next, now)
	}
}

func orNull(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("null")
	}
	return raw
}
