package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"orange/internal/core/workflow"
	"orange/internal/ui/client"
)

// How often a log that is followed is read, and its attempt looked at.
const (
	logPoll     = 200 * time.Millisecond
	attemptPoll = 2 * time.Second
)

// logWish is which output is wanted, and how.
type logWish struct {
	attempt, lines int
	role           string
	follow, raw    bool
}

func newTaskLog(deps Deps) *cobra.Command {
	var l logWish
	cmd := &cobra.Command{
		Use: "log [id]", Short: "Show the output of a task's agent, by default the newest one", Args: arguments(0, 1),
		Long: "Show what an agent wrote to its terminal. Whatever controls a terminal is left out unless --raw is\n" +
			"given.",
		Example: "  orange task log -f MFTsZyeO\n" +
			"  orange task log MFTsZyeO --role reviewer -n 50",
	}
	f := cmd.Flags()
	f.BoolVarP(&l.follow, "follow", "f", false, "show what is added until the agent ends")
	f.IntVar(&l.attempt, "attempt", 0, "number of the attempt (default: the newest)")
	f.StringVar(&l.role, "role", "", "the newest attempt of this role")
	f.IntVarP(&l.lines, "lines", "n", 0, "begin so many lines before the end (default: at the beginning)")
	f.BoolVar(&l.raw, "raw", false, "leave in what controls the agent's terminal")
	cmd.PreRunE = func(*cobra.Command, []string) error {
		for _, flag := range []struct {
			name  string
			value int
		}{{"attempt", l.attempt}, {"lines", l.lines}} {
			if f.Changed(flag.name) && flag.value < 1 {
				return usageError("--%s %d: give a positive integer", flag.name, flag.value)
			}
		}
		return nil
	}
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, args []string) error {
		id, err := s.taskOf(ctx, args)
		if err != nil {
			return err
		}
		a, err := s.attemptFor(ctx, id, l)
		if err != nil {
			return quietly(ctx, l.follow, err)
		}
		return quietly(ctx, l.follow, s.showLog(ctx, id, a, l))
	})
	return cmd
}

// quietly makes the interruption of something that is followed no error: there is no
// other end to it.
func quietly(ctx context.Context, follow bool, err error) error {
	if follow && ctx.Err() != nil {
		return nil
	}
	return err
}

// attemptFor finds the attempt whose output is wanted, and waits for one to follow.
func (s session) attemptFor(ctx context.Context, id string, l logWish) (client.Attempt, error) {
	a, ok, err := l.find(ctx, s.Client, id)
	for !ok && err == nil {
		select {
		case <-ctx.Done():
			return a, ctx.Err()
		case <-time.After(attemptPoll):
		}
		server := s.watcher()
		a, ok, err = l.find(ctx, server, id)
		server.Close()
	}
	return a, err
}

// find looks for the attempt that is meant. It is an error if there is none and none is
// to be waited for.
func (l logWish) find(ctx context.Context, server *client.Client, id string) (a client.Attempt, ok bool, err error) {
	list, err := server.Attempts(ctx, id)
	if err != nil {
		return a, false, err
	}
	if a, ok = l.choose(list); ok {
		return a, true, nil
	}
	if l.attempt > 0 || !l.follow {
		return a, false, fmt.Errorf("task %s has no %s: see orange task attempts %s", short(id), l.what(), id)
	}
	x, err := server.Explain(ctx, id)
	if err == nil && x.Kind == string(workflow.Terminal) {
		err = fmt.Errorf("task %s ended %s and had no %s", short(id), x.Status, l.what())
	}
	return a, false, err
}

// choose is the newest attempt that is meant.
func (l logWish) choose(list []client.Attempt) (best client.Attempt, ok bool) {
	for _, a := range list {
		if l.attempt > 0 && a.Number != l.attempt || l.role != "" && a.Role != l.role || a.Number < best.Number {
			continue
		}
		best, ok = a, true
	}
	return best, ok
}

// what says which attempt is meant.
func (l logWish) what() string {
	text := "attempt"
	if l.role != "" {
		text = "attempt of role " + l.role
	}
	if l.attempt > 0 {
		text += fmt.Sprintf(" with number %d", l.attempt)
	}
	return text
}

// showLog prints the output of an attempt, and what is added to it if it is followed.
func (s session) showLog(ctx context.Context, id string, a client.Attempt, l logWish) error {
	log := logTail{path: a.Log, lines: l.lines}
	defer log.close()
	switch {
	case l.follow:
		f := follower{log: &log, out: s.logPrinter(l), poll: logPoll, look: attemptPoll, over: !a.Alive}
		f.ended = func(ctx context.Context) (bool, error) { return attemptEnded(ctx, s.watcher(), id, a.Number) }
		return f.run(ctx)
	case wantsJSON(s.cmd):
		lines := []string{}
		out := &logPrinter{emit: func(line string, _ bool) error { lines = append(lines, line); return nil }, raw: l.raw}
		if err := log.readAll(a, out); err != nil {
			return err
		}
		return printJSON(s.Stdout, map[string]any{"attempt": a, "lines": lines})
	}
	return log.readAll(a, s.logPrinter(l))
}

// watcher is a client that starts no server: whoever only watches does not undo a stop.
func (s session) watcher() *client.Client { return client.Of(s.options()) }

// attemptEnded asks whether an attempt is over. Agents go on without a server: while
// there is none, nobody knows.
func attemptEnded(ctx context.Context, server *client.Client, id string, number int) (bool, error) {
	defer server.Close()
	list, err := server.Attempts(ctx, id)
	var no *client.Error
	switch {
	case errors.As(err, &no) && no.Status != http.StatusServiceUnavailable:
		return false, err
	case err != nil:
		return false, ctx.Err()
	}
	a, ok := logWish{attempt: number}.choose(list)
	return !ok || !a.Alive, nil
}

// logPrinter prints lines as they come: as text, or each as a JSON object.
func (s session) logPrinter(l logWish) *logPrinter {
	if wantsJSON(s.cmd) {
		return &logPrinter{raw: l.raw, emit: func(line string, _ bool) error { return printJSON(s.Stdout, map[string]string{"line": line}) }}
	}
	return &logPrinter{raw: l.raw, parts: true, emit: func(line string, whole bool) error {
		if whole {
			line += "\n"
		}
		_, err := io.WriteString(s.Stdout, line)
		return err
	}}
}
