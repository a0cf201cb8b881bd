package github

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// ghPatience is how long gh may take to find its token.
const ghPatience = 20 * time.Second

// TokenFromGh asks the installed gh for the token of its login at a host, "" for the one
// that gh itself would take.
func TokenFromGh(ctx context.Context, host string) (string, error) {
	args, login := []string{"auth", "token"}, "run gh auth login"
	if host != "" {
		if !hostForm.MatchString(host) {
			return "", fmt.Errorf("%q is no host: give one such as github.com", shortText(host))
		}
		args, login = append(args, "--hostname", host), login+" --hostname "+host
	}
	ctx, cancel := context.WithTimeout(ctx, ghPatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "gh", args...)
	cmd.Env = append(cmd.Environ(), "GH_PROMPT_DISABLED=1", "NO_COLOR=1", "GH_NO_UPDATE_NOTIFIER=1")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output() // what it says about an error is not repeated: it may be anything
	token := strings.TrimSpace(string(out))
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return "", fmt.Errorf("gh is not installed: install it and %s, or say where the token is", login)
	case ctx.Err() != nil:
		return "", fmt.Errorf("gh auth token did not answer: %s, or say where the token is", login)
	case err != nil:
		return "", fmt.Errorf("gh is not logged in: %s", login)
	case !oneWord(token):
		return "", fmt.Errorf("gh auth token gave no token: %s", login)
	}
	return token, nil
}
