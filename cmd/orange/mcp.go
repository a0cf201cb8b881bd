package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"orange/internal/adapter/workflowdir"
	"orange/internal/config"
	"orange/internal/core/verify"
	"orange/internal/core/workflow"
	"orange/internal/ui/cli"
	"orange/internal/ui/client"
	"orange/internal/ui/mcp"
)

// speakMCP speaks MCP with whoever runs orange mcp, in a process of its own.
func speakMCP(cfg config.Config, cwd string) func(context.Context, cli.MCPOptions) error {
	return func(ctx context.Context, o cli.MCPOptions) error {
		c := mcp.Caller{API: o.Client, Task: cfg.Task, Role: cfg.Role, Attempt: cfg.Attempt, Folder: cwd}
		return mcp.Serve(ctx, mcp.Options{Version: version, Workflow: workflows{workflowdir.New(cfg.UserWorkflows)}.Find}, c, o.In, o.Out)
	}
}

// mcpHandler speaks MCP over HTTP with those who show the token of the web page, as a
// person, and with those who show an attempt's, as that attempt.
func (s *server) mcpHandler(pageToken string) http.Handler {
	o := mcp.Options{Version: version, Workflow: workflows{workflowdir.New(s.cfg.UserWorkflows)}.Find, Verify: s.verifyElsewhere}
	return mcp.Handler(o, func(_ context.Context, token string) (mcp.Caller, func(), error) {
		return s.mcpCaller(pageToken, token)
	}, s.log)
}

var errUnknownToken = errors.New("it is neither the page's nor an attempt's")

// mcpCaller is who shows a token. The calls go through the socket like everybody's, where
// an attempt is known by its token.
func (s *server) mcpCaller(pageToken, token string) (mcp.Caller, func(), error) {
	o := client.Options{Socket: s.cfg.Socket, Home: s.cfg.Home}
	c := mcp.Caller{}
	switch {
	case token == "":
		return c, nil, errUnknownToken
	case sameToken(token, pageToken):
	case s.company == nil: // nobody could tell an attempt from a person
		return c, nil, errUnknownToken
	default:
		who, err := s.company.agents.Identify(token, os.Getpid())
		if err != nil || who == nil {
			return c, nil, errUnknownToken
		}
		c.Task, c.Role, c.Attempt, o.Token = string(who.Task), who.Role, who.Attempt, token
	}
	api := client.Of(o)
	c.API = api
	return c, api.Close, nil
}

// sameToken compares in a time that says nothing about where tokens differ.
func sameToken(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return b != "" && subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// verifyElsewhere searches the states of a workflow in a process of its own: it may take
// a gigabyte and a core, which are not this server's to give.
func (s *server) verifyElsewhere(ctx context.Context, def *workflow.Definition, maxStates int) (verify.Report, error) {
	var r verify.Report
	dir, err := os.MkdirTemp("", "orange-verify")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	file := filepath.Join(dir, "workflow.yaml")
	if err := os.WriteFile(file, []byte(def.Text), 0o600); err != nil {
		return r, err
	}
	cmd := exec.CommandContext(ctx, s.self, "workflow", "verify", "--json", "--max-states", strconv.Itoa(maxStates), file)
	cmd.Dir, cmd.Env = dir, config.ToolEnv(config.Environ())
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	err = cmd.Run() // 1 is a workflow that is not proved, which the report says
	if json.Unmarshal(out.Bytes(), &r) != nil || r.Workflow == "" {
		return r, fmt.Errorf("search the workflow: %s", strings.TrimSpace(said.String()+" "+fmt.Sprint(err)))
	}
	return r, nil
}
