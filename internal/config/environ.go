package config

import (
	"os"
	"slices"
	"strings"
)

// Environ is the environment of this process.
func Environ() []string { return os.Environ() }

// ServerEnv keeps of environ what a server may inherit from whoever starts it. What
// names an attempt is dropped: a server belongs to none.
func ServerEnv(environ []string) []string {
	names := []string{
		"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TERM", "TMPDIR", "TZ",
		"ORANGE_HOME", "ORANGE_LOG_LEVEL", "SSH_AUTH_SOCK",
	}
	out := []string{}
	for _, kv := range environ {
		name, _, ok := strings.Cut(kv, "=")
		if ok && (slices.Contains(names, name) || strings.HasPrefix(name, "LC_") || strings.HasPrefix(name, "XDG_")) {
			out = append(out, kv)
		}
	}
	return out
}
