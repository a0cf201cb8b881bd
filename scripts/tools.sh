#!/bin/sh
# Checks that the tools that Orange needs are installed and new enough, or prints how to install them.
# With the argument test, it also checks what only the tests need: gh and a browser. If there is no
# browser and it cannot be installed, its tests are skipped, except in continuous integration (CI=true).
set -eu

cd "$(dirname "$0")/.."

need() {
	command -v "$1" >/dev/null 2>&1 && return 0
	if [ "$(uname)" = Linux ] && command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
		echo "installing $2" >&2
		apt-get update -qq >/dev/null && apt-get install -y -qq "$2" >/dev/null && return 0
	fi
	case "$(uname)" in
	Darwin) hint="brew install $2" ;;
	*) hint="sudo apt-get install $2" ;;
	esac
	echo "orange: $1 is missing: $hint" >&2
	exit 1
}

# at_least FOUND LEAST compares versions by their first two numbers.
at_least() {
	echo "$1 $2" | awk '{ split($1, f, "."); split($2, l, "."); exit !(f[1] + 0 > l[1] + 0 || f[1] + 0 == l[1] + 0 && f[2] + 0 >= l[2] + 0) }'
}

# recent NAME FOUND LEAST HINT stops if a version is too old.
recent() {
	at_least "$2" "$3" && return 0
	echo "orange: $1 $2 is too old: $3 or newer is needed: $4" >&2
	exit 1
}

# Packages of systems have old versions of Go, so the script never installs Go from them. Go 1.21 or
# newer fetches the version in go.mod by itself, and then reports that version here.
wanted_go=$(sed -n 's/^go \([0-9]*\.[0-9]*\).*/\1/p' go.mod)
get_go="get it from https://go.dev/dl"
command -v go >/dev/null 2>&1 || {
	echo "orange: go is missing: $get_go (Go $wanted_go or newer)" >&2
	exit 1
}
go_says=$(go version) || {
	echo "orange: Go $wanted_go or newer is needed, and this one cannot fetch it: $get_go" >&2
	exit 1
}
recent Go "$(echo "$go_says" | sed 's/^go version go\([0-9.]*\).*/\1/')" "$wanted_go" "$get_go"

need git git
recent git "$(git --version | sed 's/[^0-9]*\([0-9.]*\).*/\1/')" 2.34 "see https://git-scm.com/downloads"
need tmux tmux
recent tmux "$(tmux -V | sed 's/[^0-9]*\([0-9.]*\).*/\1/')" 3.2 "see https://github.com/tmux/tmux/wiki/Installing"

browser() {
	for name in chromium chromium-browser google-chrome; do
		command -v "$name" >/dev/null 2>&1 && return 0
	done
	if [ "$(uname)" = Linux ] && command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
		echo "installing chromium" >&2
		{ apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core; } >/dev/null 2>&1 && return 0
	fi
	echo "orange: chromium is missing: tests of the web page are skipped (sudo apt-get install chromium)" >&2
	[ "${CI:-}" != true ]
}

# gh is optional: a test compares its commands with those that reviewers may run.
forge() {
	command -v gh >/dev/null 2>&1 && return 0
	if [ "$(uname)" = Linux ] && command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
		echo "installing gh" >&2
		{ apt-get update -qq && apt-get install -y -qq --no-install-recommends gh; } >/dev/null 2>&1 && return 0
	fi
	echo "orange: gh is missing: the test of its commands is skipped (sudo apt-get install gh)" >&2
}

if [ "${1:-}" = test ]; then
	browser
	forge
fi
