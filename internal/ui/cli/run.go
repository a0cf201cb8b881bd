package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/ui/client"
)

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1 // the command was refused, or failed
	exitUsage  = 2

	exitNeedsPerson = 2   // orange run: a person is needed, and none is at the terminal
	exitInterrupted = 130 // Ctrl-C, as of a program that the signal ended
)

// Run executes the command that args name and returns the exit code.
func Run(ctx context.Context, deps Deps, args []string) int {
	root := New(deps)
	root.SetArgs(joinBranch(args))
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitOK
	}
	var f exitError
	code := exitFailed
	if errors.As(err, &f) {
		code = f.code
	} else if ctx.Err() != nil { // the user ended it, and knows
		return exitInterrupted
	}
	if !f.shown {
		printError(deps, cmd, err, wantsJSON(cmd) || slices.Contains(args, "--json"))
	}
	return code
}

// printError prints an error on one line, as JSON if the command line asks for JSON.
func printError(deps Deps, cmd *cobra.Command, err error, asJSON bool) {
	what := strings.TrimPrefix(cmd.CommandPath(), "orange")
	line := strings.TrimSpace(what) + ": " + err.Error()
	fmt.Fprintln(deps.Stderr, "orange: "+cleanLine(strings.TrimPrefix(line, ": ")))
	if !asJSON {
		return
	}
	var no *client.Error
	if errors.As(err, &no) && isErrorObject(no.Body) {
		fmt.Fprintln(deps.Stdout, strings.TrimSpace(string(no.Body)))
		return
	}
	_ = printJSON(deps.Stdout, map[string]string{"error": err.Error()})
}

// isErrorObject reports whether the server's response can be printed as the error itself.
// Such a response also holds the rules that were evaluated.
func isErrorObject(body []byte) bool {
	var said struct {
		Error string `json:"error"`
	}
	return json.Unmarshal(body, &said) == nil && said.Error != ""
}

// joinBranch joins "--branch NAME" into one argument. The flag may also be used without a
// name, so the parser would not read a separate name as its value.
func joinBranch(args []string) []string {
	out := make([]string, 0, len(args)) // not nil: cobra would read the arguments of the process instead
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			return append(out, args[i:]...)
		}
		if args[i] == "--branch" && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
			out = append(out, "--branch="+args[i+1])
			i++
			continue
		}
		out = append(out, args[i])
	}
	return out
}
