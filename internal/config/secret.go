package config

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// trackerSecrets are the variables that may contain tokens of trackers and forges. The server
// has them; agents never do, even if agent_env names them.
var trackerSecrets = [...]string{"LINEAR_API_KEY", "LINEAR_WEBHOOK_SECRET", "GITHUB_TOKEN", "GH_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_WEBHOOK_SECRET", "GITEA_TOKEN", "FORGEJO_TOKEN", "JOAN_API_KEY", "JOAN_TOKEN"}

// secretPrefix is the prefix of further such variables.
const secretPrefix = "ORANGE_SECRET_"

// TrackerSecret reports whether a variable may contain the secret of a tracker.
func TrackerSecret(name string) bool {
	return slices.Contains(trackerSecrets[:], name) || strings.HasPrefix(name, secretPrefix)
}

// CheckSecret returns an error if source is not a valid source of a secret.
func CheckSecret(source string) error {
	kind, rest, _ := strings.Cut(source, ":")
	switch {
	case source == "" || source == "gh":
		return nil
	case kind == "env" && !TrackerSecret(rest):
		return fmt.Errorf("env:%s: the server does not inherit this variable: call it %sNAME, or use %s", rest, secretPrefix, strings.Join(trackerSecrets[:], ", "))
	case kind == "env", kind == "file" && rest != "", kind == "command" && rest != "":
		return nil
	}
	return errors.New("say where the secret is: env:NAME, file:PATH, command:PROGRAM ARGS or gh; never the secret itself")
}

// maxSecret is the size limit of a secret, in bytes.
const maxSecret = 8 << 10

// ReadSecret reads the secret from a source. It reads it again each time, so that a changed
// secret takes effect.
func ReadSecret(ctx context.Context, source string, getenv func(string) string) (string, error) {
	if err := CheckSecret(source); err != nil {
		return "", err
	}
	kind, rest, _ := strings.Cut(source, ":")
	var secret string
	var err error
	switch kind {
	case "env":
		if secret = getenv(rest); secret == "" {
			err = fmt.Errorf("%s is not set where the server was started: set it, then run orange restart", rest)
		}
	case "file":
		if below, ok := strings.CutPrefix(rest, "~/"); ok {
			rest = filepath.Join(getenv("HOME"), below)
		}
		secret, err = secretFile(rest)
	case "command":
		secret, err = secretOf(ctx, "sh", "-c", rest)
	default:
		return "", errors.New("no secret is configured: see orange tracker add --help")
	}
	if secret = strings.TrimSpace(secret); err == nil && (secret == "" || strings.ContainsAny(secret, "\r\n")) {
		err = errors.New("it is not one line")
	}
	if err != nil {
		return "", fmt.Errorf("read the secret from %s: %w", kind+":"+firstWord(rest), err)
	}
	return secret, nil
}

// KeepSecret returns a function that calls read at most once per interval, because strangers
// can make the server need the secret repeatedly. It also caches errors.
func KeepSecret(read func(context.Context) (string, error), every time.Duration, now func() time.Time) func(context.Context) (string, error) {
	var mu sync.Mutex
	var secret string
	var err error
	var at time.Time
	return func(ctx context.Context) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		if age := now().Sub(at); at.IsZero() || age >= every || age < 0 {
			secret, err = read(ctx)
			at = now()
		}
		return secret, err
	}
}

func firstWord(s string) string {
	word, _, _ := strings.Cut(s, " ")
	return word
}

// secretFile reads a file that other users may not read.
func secretFile(path string) (string, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe may have no writer
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // it was only read
	info, err := f.Stat()
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", errors.New("it is not a file")
	case info.Mode().Perm()&0o077 != 0:
		return "", fmt.Errorf("others may read it: chmod 600 %s", path)
	case info.Size() > maxSecret:
		return "", errors.New("it is too long for a secret")
	}
	text, err := io.ReadAll(io.LimitReader(f, maxSecret))
	return string(text), err
}

// secretOf runs a command that prints the secret. It does not pass on its other output.
func secretOf(ctx context.Context, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.WaitDelay = time.Second
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("the command failed: %w", err)
	}
	if out.Len() > maxSecret {
		return "", errors.New("the command printed too much")
	}
	return out.String(), nil
}
