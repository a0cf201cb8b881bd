#!/bin/sh
# Installs what trackers are tested against, at the versions that were tried: GitHub's
# description of its interface, examples of its webhooks, and a real board that speaks
# MCP. Prints the folder: ORANGE_NPM_DIR, else orange-contracts in the cache folder of the
# user, about 0.5 GB. What is there already stays. Without npm, and where it cannot be
# installed, it prints nothing, and the tests that want it say that they skip.
set -eu

dir=${ORANGE_NPM_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/orange-contracts}

wanted='
@octokit/openapi           23.0.2
@octokit/webhooks-examples 7.6.1
backlog.md                 1.52.0
'

packages=$(echo "$wanted" | while read -r package version; do
	[ -z "$package" ] || grep -qsF "\"version\": \"$version\"" "$dir/node_modules/$package/package.json" || echo "$package@$version"
done)
if [ -n "$packages" ]; then
	if ! command -v npm >/dev/null 2>&1 && [ "$(uname)" = Linux ] && command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
		echo "installing npm" >&2
		{ apt-get update -qq && apt-get install -y -qq --no-install-recommends npm; } >/dev/null 2>&1 || true
	fi
	command -v npm >/dev/null 2>&1 || {
		echo "contracts: npm is missing: tests against GitHub's description and a real MCP board are skipped" >&2
		exit 0
	}
	mkdir -p "$dir"
	[ -f "$dir/package.json" ] || echo '{"private": true}' >"$dir/package.json"
	echo "installing into $dir:" $packages >&2
	# shellcheck disable=SC2086 # one word for each package
	# A registry that does not answer must not hold up the tests for ever.
	patience=$(command -v timeout >/dev/null 2>&1 && echo "timeout 300" || true)
	(cd "$dir" && $patience npm install --no-fund --no-audit --loglevel=error $packages >/dev/null) || {
		echo "contracts: npm could not install them: tests that want them are skipped" >&2
		exit 0
	}
fi
echo "$dir"
