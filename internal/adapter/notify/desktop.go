package notify

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"orange/internal/core/explain"
)

// Desktop shows a message on the user's desktop, with notify-send or, on macOS, with osascript.
// No shell reads the text.
type Desktop struct {
	System string   // as Go calls it: linux, darwin
	Env    []string // environment of the program, by which it must find the desktop
}

// SendMessage shows a message.
func (d Desktop) SendMessage(ctx context.Context, m Message) error {
	if len(m.Items) == 0 {
		return errNothing
	}
	return d.runCommand(ctx, d.notifyCommand(&m))
}

// notifyCommand returns the command line that shows a message.
func (d Desktop) notifyCommand(m *Message) []string {
	title, body := m.titleText(), m.bodyText()
	if d.System == "darwin" {
		return []string{"osascript", "-e", "on run argv", "-e", "display notification (item 2 of argv) with title (item 1 of argv)", "-e", "end run", title, body}
	}
	urgency := [...]string{explain.NothingStops: "low", explain.WorkWaits: "normal", explain.AgentWaits: "normal", explain.Broken: "critical"}[m.messageWeight()]
	return []string{"notify-send", "--app-name=Orange", "--urgency=" + urgency, "--", plainTitle(title), plainBody(body)}
}

// plainBody escapes text for a place that interprets markup, and in which notify-send
// interprets backslashes.
func plainBody(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `\`, `\\`).Replace(s)
}

// plainTitle prepares text for a place that should not interpret markup, and sometimes does.
func plainTitle(s string) string {
	return strings.NewReplacer("&", "+", "<", "(", ">", ")", `\`, "/").Replace(s)
}

func (d Desktop) runCommand(ctx context.Context, argv []string) error {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env, cmd.Dir, cmd.WaitDelay = d.Env, "/", time.Second
	err := cmd.Run() // its output is not used, because it may repeat the text
	var exit *exec.ExitError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, exec.ErrNotFound):
		return &Failure{why: argv[0] + " is not installed", lasting: true}
	case ctx.Err() != nil:
		return &Failure{why: argv[0] + " takes too long"}
	case errors.As(err, &exit):
		return &Failure{why: fmt.Sprintf("%s ended with %d: is there a desktop?", argv[0], exit.ExitCode())}
	}
	return &Failure{why: argv[0] + " cannot be run"}
}
