#!/bin/sh
# Installs what tests of trackers and pages need, at the versions in scripts/npm/contracts: GitHub's
# description of its API, examples of its webhooks, a real board that speaks MCP, and a checker of
# accessibility. Prints the folder: ORANGE_NPM_DIR, or orange-contracts in the cache folder of the user, about 0.5 GB. When
# the lock file changes, the script installs them again. Without npm, or if the installation fails,
# it prints nothing, and the tests that need the folder say that they skip.
set -eu
cd "$(dirname "$0")/.."

dir=${ORANGE_NPM_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/orange-contracts}

if ! cmp -s scripts/npm/contracts/package-lock.json "$dir/package-lock.json"; then
	if ! command -v npm >/dev/null 2>&1 && [ "$(uname)" = Linux ] && command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
		echo "installing npm" >&2
		{ apt-get update -qq && apt-get install -y -qq --no-install-recommends npm; } >/dev/null 2>&1 || true
	fi
	command -v npm >/dev/null 2>&1 || {
		echo "contracts: npm is missing: tests against GitHub's description, a real MCP board and axe are skipped" >&2
		exit 0
	}
	scripts/npm/install.sh contracts "$dir" || {
		echo "contracts: npm could not install them: tests that need them are skipped" >&2
		exit 0
	}
fi
echo "$dir"
