package harness

import (
	"path/filepath"
	"time"

	"orange/internal/core/task"
)

// pi is the pi coding agent.
type pi struct{}

// Name implements Harness.
func (pi) Name() string { return "pi" }

// Program implements Harness.
func (pi) Program() string { return "pi" }

// Efforts implements Harness.
func (pi) Efforts() []string { return []string{"off", "minimal", "low", "medium", "high", "xhigh"} }

// Plan implements Harness.
func (p pi) Plan(l Launch) (Plan, error) {
	if err := l.check(p); err != nil {
		return Plan{}, err
	}
	prompt, err := l.promptArgument(beginsWith("-@/")) // an option, a file, a command
	if err != nil {
		return Plan{}, err
	}
	file := File{Path: filepath.Join(l.Dir, "pi-extension.js"), Mode: 0o600}
	values := map[string]any{"hook": l.hookList(), "posts": []string{}, "refusal": refusal}
	if l.ReadOnly {
		values["posts"] = posts()
	}
	if file.Text, err = plugin("pi.js", values); err != nil {
		return Plan{}, err
	}
	argv := []string{"pi", "--extension", file.Path}
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
	if !l.Interactive {
		argv = append(argv, "--print")
	}
	if prompt != "" {
		argv = append(argv, prompt)
	}
	return Plan{Argv: argv, Env: l.noPush(), Files: []File{file}}, nil
}

// piEvent is what our extension hands over.
type piEvent struct {
	hookEvent
	Final   string `json:"final"`
	Failure string `json:"error"`
	Usage   spent  `json:"usage"`
}

// Hook implements Harness.
func (pi) Hook(event string, payload []byte, now time.Time) (Notice, error) {
	var e piEvent
	if err := decode("pi", event, payload, &e); err != nil {
		return Notice{}, err
	}
	n := e.about()
	switch event {
	case "session_start", "session_shutdown":
	case "input":
		n.Condition, n.Prompted = task.Running, true
	case "agent_start":
		n.Condition = task.Running
	case "agent_end":
		n.ended(e.Final, e.Failure, now)
		n.Usage = e.Usage.usage().some()
	default:
		return Notice{}, nil
	}
	return n, nil
}

// piRecord is one line of pi --mode json, and of its session file.
type piRecord struct {
	Type    string `json:"type"`
	ID      string `json:"id"` // of the session, in its first line
	Message struct {
		Role    string      `json:"role"`
		Content messageText `json:"content"`
		Failure string      `json:"errorMessage"`
		At      count       `json:"timestamp"` // milliseconds
		Usage   struct {
			Input  count `json:"input"`
			Output count `json:"output"`
			Read   count `json:"cacheRead"`
			Write  count `json:"cacheWrite"`
			Cost   struct {
				Total float64 `json:"total"`
			} `json:"cost"`
		} `json:"usage"`
	} `json:"message"`
}

// Read implements Harness. The session file says the same as the output in far fewer
// lines, so it is read first.
func (pi) Read(o Output) Notice {
	n := piRead(o.Transcript, "message", o)
	if o.Headless && n.Final == "" && n.Usage == nil && n.Condition == "" {
		n = piRead(o.Log, "message_end", o).fill(n)
	}
	return n
}

func piRead(path, kind string, o Output) Notice {
	var n Notice
	var sum Usage
	for r := range records[piRecord](path) {
		m := r.Message
		switch {
		case r.Type == "session" && plainID(r.ID):
			n.Session = r.ID
		case r.Type != kind || m.Role != "assistant" || time.UnixMilli(int64(m.At)).Before(o.Since):
		case m.Failure != "":
			n.mark(m.Failure, o.Now)
		default:
			n.lift()
			if m.Content != "" {
				n.Final = prose(string(m.Content))
			}
			u := m.Usage
			sum.plus(Usage{InputTokens: u.Input.int(), OutputTokens: u.Output.int(), CacheTokens: u.Read.int() + u.Write.int(), CostMicroUSD: micros(u.Cost.Total)})
		}
	}
	n.Usage = sum.some()
	return n
}
