package page

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"orange/internal/core/verify"
	"orange/internal/core/workflow"
	"orange/internal/server/callers"
	"orange/internal/ui/client"
	"orange/internal/ui/mcp"
	"orange/internal/ui/web"
)

// mcpHandler speaks MCP over HTTP with those who show the token of the web page, as a
// person, and with those who show an attempt's, as that attempt.
func (p *Page) mcpHandler(pageToken string) http.Handler {
	o := mcp.Options{Version: p.Version, Workflow: p.Workflow, Verify: p.verifyElsewhere}
	return mcp.Handler(o, func(r *http.Request) (mcp.Caller, func(), error) { return p.mcpCaller(pageToken, r) }, p.Log)
}

// mcpCaller returns who asks. The calls go through the socket like everybody's, where an
// attempt is known by its token; here it must not be shown by a process of another attempt.
func (p *Page) mcpCaller(pageToken string, r *http.Request) (mcp.Caller, func(), error) {
	o := client.Options{Socket: p.Socket, Home: p.Home}
	c := mcp.Caller{}
	token, shown := web.BearerToken(r)
	switch {
	case !shown || token == "":
		return c, nil, mcp.ErrNoToken
	case web.EqualSecrets(token, pageToken): // that it is no agent who shows it, the page has seen to
	case p.Agents == nil: // nobody could tell an attempt from a person
		return c, nil, callers.ErrUnknownToken
	default:
		who, err := callers.AttemptOf(p.Agents, token, r)
		if err != nil {
			return c, nil, err
		}
		c.Task, c.Role, c.Attempt, o.Token = string(who.Task), who.Role, who.Attempt, token
	}
	api := client.FromOptions(o)
	c.API = api
	return c, api.Close, nil
}

// verifyElsewhere searches the states of a workflow in a process of its own: it may take
// a gigabyte and a core, which are not this server's to give.
func (p *Page) verifyElsewhere(ctx context.Context, def *workflow.Definition, maxStates int) (verify.Report, error) {
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
	cmd := exec.CommandContext(ctx, p.Self, "workflow", "verify", "--json", "--max-states", strconv.Itoa(maxStates), file)
	cmd.Dir, cmd.Env = dir, p.ToolEnv()
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	err = cmd.Run() // 1 is a workflow that is not proved, which the report says
	if json.Unmarshal(out.Bytes(), &r) != nil || r.Workflow == "" {
		return r, fmt.Errorf("search the workflow: %s", strings.TrimSpace(said.String()+" "+fmt.Sprint(err)))
	}
	return r, nil
}
