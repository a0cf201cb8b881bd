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

// mcpHandler serves MCP over HTTP. A client with the token of the web page acts as a person, and a client with the token
// of an attempt acts as that attempt.
func (p *Page) mcpHandler(pageToken string) http.Handler {
	o := mcp.ToolOptions{
		Version: p.Version, Workflow: p.Workflow, Verify: p.verifyElsewhere, VerifyTasks: p.verifyTasksElsewhere,
		Follow: client.FromOptions(client.DialOptions{Socket: p.Socket, Home: p.Home}),
	}
	return mcp.Handler(p.life, o, func(r *http.Request) (mcp.Caller, func(), error) { return p.mcpCaller(pageToken, r) }, p.Log)
}

// mcpCaller identifies the caller of a request. Its calls go through the socket like all others, where the token
// identifies an attempt; here the token of an attempt must not come from a process of another attempt.
func (p *Page) mcpCaller(pageToken string, r *http.Request) (mcp.Caller, func(), error) {
	o := client.DialOptions{Socket: p.Socket, Home: p.Home}
	c := mcp.Caller{}
	token, shown := web.BearerToken(r)
	switch {
	case !shown || token == "":
		return c, nil, mcp.ErrNoToken
	case web.EqualSecrets(token, pageToken): // the page has refused agents already
	case p.Agents == nil: // without agents no attempt can be identified
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

// verifyElsewhere verifies a workflow in a separate process, because that may need a gigabyte and a core.
func (p *Page) verifyElsewhere(ctx context.Context, def *workflow.Definition, maxStates int) (verify.Report, error) {
	var r verify.Report
	err := p.runVerify(ctx, def, &r, "--max-states", strconv.Itoa(maxStates))
	return r, err
}

// verifyTasksElsewhere verifies several tasks of a workflow in a separate process.
func (p *Page) verifyTasksElsewhere(ctx context.Context, def *workflow.Definition, tasks, maxStates int) (verify.TasksReport, error) {
	var r verify.TasksReport
	err := p.runVerify(ctx, def, &r, "--max-states", strconv.Itoa(maxStates), "--tasks="+strconv.Itoa(tasks))
	return r, err
}

// runVerify runs orange workflow verify and reads its report.
func (p *Page) runVerify(ctx context.Context, def *workflow.Definition, report any, flags ...string) error {
	dir, err := os.MkdirTemp("", "orange-verify")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	file := filepath.Join(dir, "workflow.yaml")
	if err := os.WriteFile(file, []byte(def.Text), 0o600); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, p.Self, append(append([]string{"workflow", "verify", "--json"}, flags...), file)...)
	cmd.Dir, cmd.Env = dir, p.ToolEnv()
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	err = cmd.Run() // exit code 1 means that a property does not hold, which the report contains
	var named struct {
		Workflow string `json:"workflow"`
	}
	if json.Unmarshal(out.Bytes(), &named) != nil || named.Workflow == "" || json.Unmarshal(out.Bytes(), report) != nil {
		return fmt.Errorf("verify the workflow: %s", strings.TrimSpace(said.String()+" "+fmt.Sprint(err)))
	}
	return nil
}
