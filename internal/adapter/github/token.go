package github

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// ghTimeout is how long gh may take to return its token.
const ghTimeout = 20 * time.Second

// TokenFromGh returns the token of the installed gh for its login at a host, or for gh's
// default host if host is "".
func TokenFromGh(ctx context.Context, host string) (string, error) {
	args, login := []string{"auth", "token"}, "run gh auth login"
	if host != "" {
		if !hostForm.MatchString(host) {
			return "", fmt.Errorf("%q is not a host: give one such as github.com", shortText(host))
		}
		args, login = append(args, "--hostname", host), login+" --hostname "+host
	}
	ctx, cancel := context.WithTimeout(ctx, ghTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "gh", args...)
	cmd.Env = append(cmd.Environ(), "GH_PROMPT_DISABLED=1", "NO_COLOR=1", "GH_NO_UPDATE_NOTIFIER=1")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output() // its error output is not repeated, because it may contain anything
	token := strings.TrimSpace(string(out))
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return "", fmt.Errorf("gh is not installed: install it and %s, or set where the token comes from", login)
	case ctx.Err() != nil:
		return "", fmt.Errorf("gh auth token did not answer: %s, or set where the token comes from", login)
	case err != nil:
		return "", fmt.Errorf("gh is not logged in: %s", login)
	case !oneWord(token):
		return "", fmt.Errorf("gh auth token returned no token: %s", login)
	}
	return token, nil
}
