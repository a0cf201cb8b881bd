package git

import (
	"bytes"
	"context"
	"os/exec"
	"slices"
	"strings"
)

// notSigned returns what gpg or ssh printed when git could not sign a commit, or "" if
// something else went wrong. Git itself reports only that it could not write the commit.
func notSigned(stderr string) string {
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	if !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "fatal: failed to write commit object") }) {
		return ""
	}
	said := signerLines(lines)
	if len(said) == 0 {
		return ""
	}
	return "the commit could not be signed: " + strings.Join(said, "; ")
}

func signerLines(lines []string) (said []string) {
	for _, l := range lines {
		l = strings.TrimSpace(strings.TrimPrefix(l, "error: "))
		if l != "" && !strings.HasPrefix(l, "fatal: ") && !strings.HasPrefix(l, "[GNUPG:]") {
			said = append(said, strings.TrimSuffix(l, ":"))
		}
	}
	return said
}

// gpgHidden ends the message of git before 2.41, which does not pass on the output of gpg.
const gpgHidden = "gpg failed to sign the data"

// askGPG adds gpg's message to the reason of a failed commit. To get the message, it signs
// something else in the way git does.
func (g *Git) askGPG(ctx context.Context, c call, why string) string {
	setting := func(name string) string {
		out, err := g.runOnce(ctx, call{dir: c.dir, config: c.config, args: []string{"config", name}})
		if err != nil {
			return ""
		}
		return out
	}
	program, key := setting("gpg.program"), setting("user.signingkey")
	if program == "" {
		program = "gpg"
	}
	if key == "" {
		who, err := g.runOnce(ctx, call{dir: c.dir, config: c.config, args: []string{"var", "GIT_COMMITTER_IDENT"}, env: c.env})
		if err != nil {
			return why
		}
		key = who[:strings.LastIndex(who, ">")+1]
	}
	cmd := exec.CommandContext(ctx, program, "--status-fd=2", "-bsau", key)
	like, err := g.prepareCommand(ctx, &c) // it has no terminal either, and nothing waits for processes that it leaves behind
	if err != nil {
		return why
	}
	cmd.Env, cmd.SysProcAttr, cmd.WaitDelay = like.Env, like.SysProcAttr, like.WaitDelay
	cmd.Dir, cmd.Stdin = c.dir, strings.NewReader("orange\n")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if cmd.Run() == nil {
		return why
	}
	if said := signerLines(strings.Split(errs.String(), "\n")); len(said) > 0 {
		why += ": " + strings.Join(said, "; ")
	}
	return why
}
