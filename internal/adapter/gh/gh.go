// Package gh asks the installed gh, GitHub's command, to open and to show pull
// requests. It uses the login that gh has: no token passes through here.
package gh

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"orange/internal/core/task"
)

// patience is how long one gh command may take.
const patience = 2 * time.Minute

// CLI runs the gh that is found in the path.
type CLI struct{ program string }

// New returns the installed gh. That it is installed shows on first use.
func New() *CLI { return &CLI{program: "gh"} }

// A Wish describes the pull request that is wanted.
type Wish struct{ Branch, Base, Title, Body string }

// A PR is a pull request.
type PR struct {
	URL   string `json:"url"`
	State string `json:"state"` // OPEN, CLOSED or MERGED
}

// Create opens a pull request, or finds the open one that the branch has.
func (c *CLI) Create(ctx context.Context, dir string, w Wish) (url string, err error) {
	if pr, err := c.View(ctx, dir, w.Branch); err == nil && pr.State == "OPEN" {
		return pr.URL, nil
	}
	out, err := c.run(ctx, dir, w.Body, "pr", "create", "--head="+w.Branch, "--base="+w.Base, "--title="+w.Title, "--body-file", "-")
	if err != nil {
		return "", err
	}
	lines := strings.Fields(out)
	if len(lines) == 0 || !strings.HasPrefix(lines[len(lines)-1], "https://") {
		return "", errors.New("gh pr create did not say where the pull request is: look at the forge")
	}
	return lines[len(lines)-1], nil
}

// View shows a pull request, by its address or its branch.
func (c *CLI) View(ctx context.Context, dir, which string) (PR, error) {
	var pr PR
	out, err := c.run(ctx, dir, "", "pr", "view", "--json", "url,state", "--", which)
	if err == nil {
		err = json.Unmarshal([]byte(out), &pr)
	}
	if err != nil {
		return pr, fmt.Errorf("look at the pull request: %w", err)
	}
	return pr, nil
}

func (c *CLI) run(ctx context.Context, dir, stdin string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.program, args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
	cmd.Env = append(cmd.Environ(), "GH_PROMPT_DISABLED=1", "NO_COLOR=1", "GH_NO_UPDATE_NOTIFIER=1")
	cmd.WaitDelay = time.Second
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	switch {
	case err == nil:
		return strings.TrimSpace(out.String()), nil
	case errors.Is(err, exec.ErrNotFound):
		return "", task.Mistakef("gh is not installed: install it and run gh auth login, or open the pull request by hand")
	case ctx.Err() != nil:
		return "", fmt.Errorf("gh %s took too long", args[1])
	}
	said, _, _ := strings.Cut(strings.TrimSpace(errs.String()), "\n")
	if strings.Contains(said, "auth login") {
		return "", task.Mistakef("gh is not logged in: run gh auth login")
	}
	return "", fmt.Errorf("gh %s: %s", args[1], said)
}
