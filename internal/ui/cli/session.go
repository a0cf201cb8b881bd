package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/config"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/ui/client"
	"orange/internal/view/narrate"
	"orange/internal/wire"
)

// A session is a run of a command with a connection to the server.
type session struct {
	Deps
	*client.Client
	cmd *cobra.Command
}

// withServer returns the run function of a command that needs a server.
func withServer(deps Deps, run func(context.Context, session, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		o := deps.clientOptions()
		o.Start = deps.Start
		c, err := client.Connect(cmd.Context(), o)
		if err != nil {
			return err
		}
		defer c.Close()
		warnOfOtherServer(deps, c.ServerVersion())
		return run(cmd.Context(), session{Deps: deps, Client: c, cmd: cmd}, args)
	}
}

// clientOptions returns the options to connect to the server of the data folder, if one runs.
func (d Deps) clientOptions() client.DialOptions {
	return client.DialOptions{
		Socket: d.Config.Socket, Home: d.Config.Home, Folder: d.Cwd, Token: d.Config.Token, Owner: d.Owner,
		Environment: &wire.Environment{Since: d.Now(), Variables: config.RenewedEnv(d.Environ, d.Config.AgentEnv...)},
	}
}

// findOwner returns the server that holds the data folder. It returns false if there is none
// or it is unknown.
func (d Deps) findOwner() (client.Owner, bool) {
	if d.Owner == nil {
		return client.Owner{}, false
	}
	return d.Owner()
}

// connectRunning connects to a server that already runs.
func connectRunning(ctx context.Context, deps Deps) (*client.Client, error) {
	return client.Connect(ctx, deps.clientOptions())
}

func (s session) showResult(v any, text func(io.Writer) error) error {
	return showResult(s.cmd, v, text)
}

// sayLine prints one line, or v if the command prints JSON.
func (s session) sayLine(v any, format string, args ...any) error {
	return s.showResult(v, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, cleanLine(fmt.Sprintf(format, args...)))
		return err
	})
}

// sayLines prints lines, which may be indented, or v if the command prints JSON.
func (s session) sayLines(v any, lines ...string) error {
	return s.showResult(v, func(w io.Writer) error {
		for i, line := range lines {
			lines[i] = line[:len(line)-len(strings.TrimLeft(line, " "))] + cleanLine(line)
		}
		_, err := fmt.Fprintln(w, strings.Join(lines, "\n"))
		return err
	})
}

// callingActor returns the caller: the role and number of the attempt that runs the command,
// or else a person.
func (d Deps) callingActor() (task.Actor, int) {
	if d.Config.Role == "" {
		return task.Human, 0
	}
	return task.Actor(d.Config.Role), d.Config.Attempt
}

// sendSignal sends a signal in the name of the caller. An agent may act only on its own task,
// because its attempt number would name a different attempt of another task.
func (s session) sendSignal(ctx context.Context, id string, sig signal.Signal) (wire.Answer, error) {
	if own := s.Config.Task; s.Config.Role != "" && own != "" {
		named, err := s.findTask(ctx, id)
		if err != nil {
			return wire.Answer{}, err
		}
		if named != own {
			return wire.Answer{}, fmt.Errorf("this is an attempt of task %s: it may not change task %s", shortID(own), shortID(named))
		}
	}
	sig.Actor, sig.Attempt = s.callingActor()
	sig.Confirm = s.confirmationCode()
	a, err := s.Client.SendSignal(ctx, id, sig)
	if sig.Confirm == "" && client.NeedsCode(err) && s.IsTerminal && s.Config.Role == "" {
		fmt.Fprint(s.Stderr, "orange: "+cleanLine(err.Error())+"\nCode: ")
		text, wrong := readLine(s.Stdin)
		if sig.Confirm = strings.TrimSpace(text); sig.Confirm == "" {
			return a, errors.Join(err, wrong)
		}
		a, err = s.Client.SendSignal(ctx, id, sig)
	}
	if err == nil && a.Warning != "" {
		fmt.Fprintln(s.Stderr, "orange: warning: "+cleanLine(a.Warning))
	}
	return a, err
}

// confirmationCode returns the value of --code, "" if the command has no such flag.
func (s session) confirmationCode() string {
	if f := s.cmd.Flags().Lookup("code"); f != nil {
		return strings.TrimSpace(f.Value.String())
	}
	return ""
}

// codeFlag adds the flag --code, with which a person enters a code from a notification.
func codeFlag(cmd *cobra.Command) {
	cmd.Flags().String("code", "", "code that was shown by notification, for a project that asks for one (see orange project update --confirm)")
}

// taskOf returns the task that the arguments name, or else the task of the attempt, or else
// the task whose workspace is the current folder.
func (s session) taskOf(ctx context.Context, args []string) (string, error) {
	if len(args) > 0 {
		return s.findTask(ctx, args[0])
	}
	if s.Config.Task != "" {
		return s.Config.Task, nil
	}
	at, err := s.FindPlace(ctx, s.Cwd)
	if err != nil {
		return "", err
	}
	if at.Task == "" {
		return "", errors.New("this folder is not the workspace of a task: give the id of a task")
	}
	return string(at.Task), nil
}

// findTask returns the id of the task that a name means. A command that asks only once about a task passes the name on
// instead; one that asks several times must not have its name mean different tasks.
func (s session) findTask(ctx context.Context, name string) (string, error) {
	if task.ID(name).IsValid() {
		return name, nil
	}
	v, err := s.ReadTask(ctx, name)
	return string(v.Task.ID), err
}

// describeAnswer describes what an answer changed.
func describeAnswer(a wire.Answer) string {
	return narrate.DescribeOutcome(a.Outcome(""), narrate.Voice{Name: shortID(string(a.Task.ID))})
}

// askConfirmation asks a person to confirm an action that is hard to undo.
func (s session) askConfirmation(yes bool, format string, args ...any) error {
	if yes {
		return nil
	}
	if !s.IsTerminal {
		return errors.New("there is no terminal to confirm this: add --yes")
	}
	fmt.Fprint(s.Stderr, cleanLine(fmt.Sprintf(format, args...))+" [y/N] ")
	answer, err := readLine(s.Stdin)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read the answer: %w", err)
	}
	if word := strings.ToLower(strings.TrimSpace(answer)); word != "y" && word != "yes" {
		return errors.New("not confirmed: nothing was changed")
	}
	return nil
}

// readLine reads one line and nothing after it.
func readLine(r io.Reader) (string, error) {
	var line []byte
	for b := make([]byte, 1); len(line) < 1024; {
		n, err := r.Read(b)
		if n > 0 && b[0] == '\n' {
			return string(line), nil
		}
		line = append(line, b[:n]...)
		if err != nil {
			return string(line), err
		}
	}
	return string(line), nil
}
