package cli

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"

	"github.com/spf13/cobra"
)

func newWebCommand(deps Deps) *cobra.Command {
	var open, token bool
	cmd := &cobra.Command{
		Use: "web", Short: "Start the web page and print the address that signs you in", Args: requireArguments(0, 0),
		Long: "Opens the web page of the server, if it is not open, and prints an address that signs you in:\n" +
			"once, within a minute. The page is for this machine only, and for you: everybody who is signed in may\n" +
			"do all that you may. Programs show the token that --token prints as Authorization: Bearer.",
		Example: "  orange web\n  orange web --open",
	}
	cmd.Flags().BoolVar(&open, "open", false, "show it in a browser")
	cmd.Flags().BoolVar(&token, "token", false, "print the token for programs, which does not end, instead of the address")
	cmd.MarkFlagsMutuallyExclusive("open", "token")
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, _ []string) error {
		if s.Config.Role != "" {
			return errors.New("the web page is for people: an agent uses the other commands")
		}
		if token {
			page, err := s.WebToken(ctx)
			if err != nil {
				return err
			}
			return s.sayLine(page, "%s", page.Token)
		}
		page, err := s.OpenPage(ctx)
		if err != nil {
			return err
		}
		if open {
			if err := openBrowser(page.Login); err != nil {
				return err
			}
		}
		return s.sayLine(page, "%s", page.Login)
	})
	return cmd
}

// openBrowser opens an address in the user's browser.
func openBrowser(address string) error {
	program := "xdg-open"
	if runtime.GOOS == "darwin" {
		program = "open"
	}
	cmd := exec.Command(program, address)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("no browser can be started (%s is not there): open the address that orange web prints", program)
	}
	return cmd.Process.Release()
}
