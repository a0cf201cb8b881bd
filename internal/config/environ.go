package config

import (
	"os"
	"slices"
	"strings"

	"orange/internal/core/agent"
)

// Environ returns the environment of this process.
func Environ() []string { return os.Environ() }

// Getenv returns the value of a variable in the environment of this process.
func Getenv(name string) string { return os.Getenv(name) }

// base is what every process that Orange starts may inherit: who and where the user is, and how
// to find tools.
var base = [...]string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TERM", "TMPDIR", "TZ", "EDITOR",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
	"GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL",
	"GOPATH", "GOCACHE", "GOMODCACHE", "GOFLAGS", "GOPROXY", "GOTOOLCHAIN", "CARGO_HOME", "RUSTUP_HOME", "JAVA_HOME", "PYENV_ROOT", "NVM_DIR",
	"VIRTUAL_ENV", "NPM_CONFIG_REGISTRY", "DOCKER_HOST",
}

// shell is the part of base that a terminal needs.
var shell = [...]string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TERM", "TMPDIR", "TZ", "EDITOR"}

// forGit is what git and the programs it runs need in addition: how to reach remotes, where
// keys are, and the author of commits. It contains no secret, except what a person writes into
// the address of a proxy.
var forGit = [...]string{
	"PATH", "HOME", "USER", "LOGNAME", "LANG", "TMPDIR", "TZ",
	"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR",
	"GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL",
	"GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "GNUPGHOME", "GPG_TTY",
}

// gitKeys lead to keys and passwords: git gets them to connect to a remote and to sign with
// ssh.
var gitKeys = [...]string{"SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS"}

// serverOnly is what the server may have and agents may not, because the server pushes and
// agents do not. ORANGE_EFFECTS is not included: a server that records effects trusts every
// caller, so it must be started explicitly or set in config.json.
var serverOnly = [...]string{
	"SSH_AUTH_SOCK", "ORANGE_HOME", "ORANGE_LOG_LEVEL",
	"GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "GNUPGHOME", "GPG_TTY", "ALL_PROXY", "all_proxy",
}

// otherProviders are credentials for agents that work with several providers.
var otherProviders = [...]string{"OPENROUTER_API_KEY", "MISTRAL_API_KEY", "DEEPSEEK_API_KEY", "GROQ_API_KEY", "XAI_API_KEY"}

// ofTmux leads a program to the tmux it runs in, or to that of the user. An agent has its own.
var ofTmux = [...]string{"TMUX", "TMUX_PANE", "TMUX_TMPDIR"}

// never lists variables that would make an agent believe that it runs inside another one.
var never = [...]string{"CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT", "CLAUDE_CODE_SESSION_ID"}

// ServerEnv returns the variables of environ that a server may inherit from the process that
// starts it, including the credentials of agents. It drops those that identify an attempt,
// because a server belongs to none. more are additional names for agents.
func ServerEnv(environ []string, more ...string) []string {
	return filterEnviron(environ, func(name string) bool {
		return isCommon(name) || slices.Contains(serverOnly[:], name) || TrackerSecret(name) || slices.Contains(more, name) || ofProvider(name, "")
	})
}

// AgentEnv returns the variables of environ that an agent of a harness may inherit. A harness
// that works with several providers, or an unknown one, gets the credentials of all.
func AgentEnv(environ []string, harness string, more ...string) []string {
	if h, ok := agent.FindHarness(harness); !ok || !h.Exclusive {
		harness = ""
	}
	return filterEnviron(environ, func(name string) bool {
		return !TrackerSecret(name) && !slices.Contains(ofTmux[:], name) && (isCommon(name) && name != "TERM" || slices.Contains(more, name) || ofProvider(name, harness))
	})
}

// RenewedEnv returns the variables of environ that a person's client sends to a server that runs, for the agents that it
// starts from then on: the credentials and settings of harnesses, and more, the additional names for agents. It leaves
// out what every process inherits, such as PATH: a terminal with another one would change what agents find.
func RenewedEnv(environ []string, more ...string) []string {
	return filterEnviron(environ, func(name string) bool {
		return !TrackerSecret(name) && !slices.Contains(ofTmux[:], name) && !isCommon(name) && (slices.Contains(more, name) || ofProvider(name, ""))
	})
}

// WithheldNames returns the names of variables that look like credentials and that no agent of these harnesses gets,
// sorted. It never returns a value.
func WithheldNames(environ []string, harnesses []string, more ...string) []string {
	given := map[string]bool{}
	for _, h := range harnesses {
		for _, kv := range AgentEnv(environ, h, more...) {
			name, _, _ := strings.Cut(kv, "=")
			given[name] = true
		}
	}
	var out []string
	for _, kv := range environ {
		name, value, ok := strings.Cut(kv, "=")
		if ok && value != "" && !given[name] && looksSecret(name) && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// looksSecret reports whether a variable leads to something that work may need and agents get only if it is listed.
func looksSecret(name string) bool {
	return !strings.HasPrefix(name, "ORANGE_") && !TrackerSecret(name) && (strings.HasSuffix(name, "_KEY") || strings.HasSuffix(name, "_TOKEN") || strings.HasPrefix(name, "AWS_") ||
		name == "DATABASE_URL" || name == "SSH_AUTH_SOCK")
}

// GitEnv returns the variables of environ that git may inherit; with keys, also those that lead
// to keys and passwords. An agent may influence the programs that git runs, so they get no
// credentials of agents, trackers or forges.
func GitEnv(environ []string, keys bool) []string {
	return filterEnviron(environ, func(name string) bool {
		return slices.Contains(forGit[:], name) || strings.HasPrefix(name, "LC_") || strings.HasPrefix(name, "XDG_") ||
			keys && slices.Contains(gitKeys[:], name)
	})
}

// TerminalEnv returns the variables of environ that tmux needs, and a shell that a person opens
// in it: no credentials at all. Agents get theirs from their shims.
func TerminalEnv(environ []string) []string {
	return filterEnviron(environ, func(name string) bool {
		return slices.Contains(shell[:], name) || strings.HasPrefix(name, "LC_") || strings.HasPrefix(name, "XDG_")
	})
}

// ToolEnv returns the variables of environ that a project's own commands need: no credentials
// of agents.
func ToolEnv(environ []string) []string { return filterEnviron(environ, isCommon) }

func filterEnviron(environ []string, wanted func(name string) bool) []string {
	out := []string{}
	for _, kv := range environ {
		if name, _, ok := strings.Cut(kv, "="); ok && wanted(name) {
			out = append(out, kv)
		}
	}
	return out
}

func isCommon(name string) bool {
	return slices.Contains(base[:], name) || strings.HasPrefix(name, "LC_") || strings.HasPrefix(name, "XDG_")
}

// ofProvider reports whether a variable belongs to a harness; "" stands for any.
func ofProvider(name, harness string) bool {
	if slices.Contains(never[:], name) {
		return false
	}
	begins := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
	for _, h := range agent.Harnesses() {
		if (harness == "" || h.Name == harness) && slices.ContainsFunc(h.Variables, begins) {
			return true
		}
	}
	return harness == "" && slices.ContainsFunc(otherProviders[:], begins)
}
