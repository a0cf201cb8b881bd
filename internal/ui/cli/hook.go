package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
)

const (
	maxPayload     = 1 << 20         // the maximum size of a hook's payload, in bytes
	hookTimeout    = 4 * time.Second // the time limit of a hook; the agent waits for it
	payloadTimeout = 2 * time.Second // how long to wait for the payload
)

// newHookCommand returns the command that a harness runs to report an event of its agent. A
// problem with the report must not affect the agent, so the command never fails, returns
// soon, and prints nothing except with --json.
func newHookCommand(deps Deps) *cobra.Command {
	cmd := &cobra.Command{
		Use: "hook <harness> <event> [payload]", Short: "Report an event of a harness", Hidden: true,
		Args: cobra.ArbitraryArgs, Annotations: map[string]string{needsNothing: "yes"},
	}
	cmd.FParseErrWhitelist.UnknownFlags = true
	cmd.SetFlagErrorFunc(func(*cobra.Command, error) error { return nil })
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		said := map[string]any{"heard": true}
		if err := deps.reportHook(cmd.Context(), args); err != nil {
			said = map[string]any{"heard": false, "error": err.Error()}
		}
		if wantsJSON(cmd) {
			_ = printJSON(cmd.OutOrStdout(), said)
		}
		return nil
	}
	return cmd
}

// reportHook reports the event to a running server. It does not start a server, because that
// takes longer than an agent should wait.
func (d Deps) reportHook(ctx context.Context, args []string) error {
	if len(args) < 2 {
		return errors.New("give the harness and the event")
	}
	ctx, cancel := context.WithTimeout(ctx, hookTimeout)
	defer cancel()
	var last []byte
	if len(args) > 2 {
		last = []byte(args[len(args)-1])
	}
	payload := d.readPayload(ctx, last)
	c, err := connectRunning(ctx, d)
	if err != nil {
		return err
	}
	defer c.Close()
	return c.ReportHook(ctx, args[0], args[1], payload)
}

// readPayload returns what standard input holds, or else the argument. It drops a payload
// that is too long: the event alone is useful, but half a payload is not.
func (d Deps) readPayload(ctx context.Context, argument []byte) []byte {
	if f, ok := d.Stdin.(*os.File); ok {
		// Standard input may be the agent's own terminal. Reading from it would take the agent's input.
		if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice != 0 {
			return dropTooLong(argument)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, payloadTimeout)
	defer cancel()
	read := make(chan []byte, 1)
	go func() { // nothing can end this read: it is left behind if no input comes
		all, _ := io.ReadAll(io.LimitReader(d.Stdin, maxPayload+1))
		read <- all
	}()
	select {
	case all := <-read:
		if len(all) > 0 {
			return dropTooLong(all)
		}
	case <-ctx.Done():
	}
	return dropTooLong(argument)
}

func dropTooLong(payload []byte) []byte {
	if len(payload) > maxPayload {
		return nil
	}
	return payload
}
