#!/bin/sh
# Installs the agent CLIs that test/agents drives, at the versions in scripts/npm/agents, and
# prints their versions. The folder is ORANGE_AGENTS_DIR, or orange-agents in the cache folder of
# the user, about 1.3 GB. When the lock file changes, the script installs them again.
set -eu
cd "$(dirname "$0")/.."

dir=${ORANGE_AGENTS_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/orange-agents}

# version prints the version that a package is locked to.
version() {
	sed -n "s|^ *\"$1\": \"\([0-9.]*\)\",\{0,1\}\$|\1|p" scripts/npm/agents/package.json
}

# quietly asks a CLI for its version with an empty home and without the network.
quietly() {
	env -i PATH="$PATH" HOME="$dir/home" HTTPS_PROXY=http://127.0.0.1:9 DISABLE_AUTOUPDATER=1 \
		CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 OPENCODE_DISABLE_AUTOUPDATE=1 \
		OPENCODE_DISABLE_MODELS_FETCH=1 PI_OFFLINE=1 "$@" 2>&1
}

# verify checks that a command runs and has the version of its package.
verify() {
	wanted=$(version "$2")
	said=$(quietly "$dir/node_modules/.bin/$1" --version </dev/null) || said="nothing: $said"
	case $said in
	*"$wanted"*) printf '%-9s%s\n' "$1" "$wanted" ;;
	*)
		echo "agents: $1 $wanted does not run: remove $dir and try again ($said)" >&2
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

if ! cmp -s scripts/npm/agents/package-lock.json "$dir/package-lock.json"; then
	scripts/npm/install.sh agents "$dir"
	# npm runs no scripts of packages. Two packages install the program for this system with a
	# script; the lines below run these two.
	(cd "$dir/node_modules/@anthropic-ai/claude-code" && node install.cjs >&2)
	(cd "$dir/node_modules/opencode-ai" && node postinstall.mjs >&2)
fi
mkdir -p "$dir/home"
verify claude @anthropic-ai/claude-code
verify codex @openai/codex
verify opencode opencode-ai
verify gemini @google/gemini-cli
verify pi @mariozechner/pi-coding-agent
