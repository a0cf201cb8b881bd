package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

func newMCPCommand(deps Deps) *cobra.Command {
	var http bool
	cmd := &cobra.Command{
		Use: "mcp", Short: "Serve the Model Context Protocol (MCP), for agents and people", Args: requireArguments(0, 0),
		Long: "Speak the Model Context Protocol on standard input and output until the input ends. The\n" +
			"tools list, show, explain, wait for and change tasks, show and change kanban boards, and\n" +
			"verify workflows. Inside an attempt they act for that attempt. docs/MCP.md lists them and\n" +
			"describes how to configure agents.",
		Example: "  claude mcp add orange -- orange mcp\n  codex mcp add orange -- orange mcp\n  orange mcp --http",
	}
	cmd.Flags().BoolVar(&http, "http", false, "open the web page, and say how MCP is reached there instead")
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, _ []string) error {
		if http {
			return s.mcpOverHTTP(ctx)
		}
		if s.MCP == nil {
			return errors.New("this program was built without MCP: reinstall it")
		}
		if s.IsTerminal {
			fmt.Fprintln(s.Stderr, "orange: mcp speaks a protocol for programs: end it with Ctrl-D, and see docs/MCP.md")
		}
		return s.MCP(ctx, MCPOptions{Client: s.Client, In: io.NopCloser(s.Stdin), Out: noClose{s.Stdout}})
	})
	return cmd
}

// noClose is a writer whose Close does nothing, so that the output stays open.
type noClose struct{ io.Writer }

func (noClose) Close() error { return nil }

// mcpOverHTTP prints the URL of MCP over HTTP and the Authorization header that it needs.
func (s session) mcpOverHTTP(ctx context.Context) error {
	page, err := s.WebToken(ctx)
	if err != nil {
		return err
	}
	answer := struct {
		URL     string            `json:"url"`
		Headers map[string]string `json:"headers"`
	}{page.URL + "mcp", map[string]string{"Authorization": "Bearer " + page.Token}}
	return s.showResult(answer, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%s\nAuthorization: Bearer %s\n", answer.URL, page.Token)
		return err
	})
}
