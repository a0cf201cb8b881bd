#!/bin/sh
# Installs the agent CLIs that test/agents drives, at the versions that were tried, and
# prints them. What is there already stays. They go to ORANGE_AGENTS_DIR, else to
# orange-agents in the cache folder of the user: about 1.3 GB.
set -eu

dir=${ORANGE_AGENTS_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/orange-agents}

# command package version
wanted='
claude   @anthropic-ai/claude-code     2.1.197
codex    @openai/codex                 0.166.0
opencode opencode-ai                   1.18.33
gemini   @google/gemini-cli            0.61.0
pi       @mariozechner/pi-coding-agent 0.73.1
'

# each calls a function with command, package and version of every CLI.
each() {
	echo "$wanted" | while read -r command package version; do
		[ -z "$command" ] || "$1" "$command" "$package" "$version"
	done
}

missing() {
	grep -qsF "\"version\": \"$3\"" "$dir/node_modules/$2/package.json" || echo "$2@$3"
}

# quietly asks a CLI for its version with an empty home and without the network.
quietly() {
	env -i PATH="$PATH" HOME="$dir/home" HTTPS_PROXY=http://127.0.0.1:9 DISABLE_AUTOUPDATER=1 \
		CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 OPENCODE_DISABLE_AUTOUPDATE=1 \
		OPENCODE_DISABLE_MODELS_FETCH=1 PI_OFFLINE=1 "$@" 2>&1
}

verify() {
	said=$(quietly "$dir/node_modules/.bin/$1" --version </dev/null) || said="nothing: $said"
	case $said in
	*"$3"*) printf '%-9s%s\n' "$1" "$3" ;;
	*)
		echo "agents: $1 $3 does not run: remove $dir and try again ($said)" >&2
		return 1
		;;
	esac
}

for tool in node npm; do
	command -v "$tool" >/dev/null 2>&1 || {
		echo "agents: $tool is missing: install Node.js 20 or later" >&2
		exit 1
	}
done

mkdir -p "$dir/home"
[ -f "$dir/package.json" ] || echo '{"private": true}' >"$dir/package.json"
packages=$(each missing)
if [ -n "$packages" ]; then
	echo "installing into $dir:" $packages >&2
	# shellcheck disable=SC2086 # one word for each package
	npm install --prefix "$dir" --save-exact --no-audit --no-fund --loglevel=error $packages >&2
fi
each verify
