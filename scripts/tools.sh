#!/bin/sh
# Makes sure that what Orange needs besides Go is there, or says how to get it. With the
# argument test, also what only its tests need: a browser, whose tests are skipped where
# it is not there and cannot be installed, but for continuous integration (CI=true), and gh.
set -eu

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

need go golang
need git git
need tmux tmux

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

# gh is only looked at: a test compares its commands with those that reviewers may run.
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
