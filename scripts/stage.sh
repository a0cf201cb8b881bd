# Shared by the demonstrations: a temporary home, the program in PATH, and functions that print.
# Source it with the program as the first argument. At the end it ends the agents and removes
# everything.
bin=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
work=$(mktemp -d)
export ORANGE_HOME="$work/home" HOME="$work" XDG_CONFIG_HOME="$work/config" XDG_RUNTIME_DIR="$work"
export PATH="$(dirname "$bin"):$PATH" GIT_CONFIG_NOSYSTEM=1 TZ=UTC
unset ORANGE_ROLE ORANGE_TASK ORANGE_ATTEMPT ORANGE_TOKEN ORANGE_EFFECTS TMUX 2>/dev/null || true
ids() { orange task list --json | tr '{' '\n' | sed -n 's/.*"id":"\([0-9A-Za-z]\{21\}\)".*/\1/p'; }
finish() {
	cd /
	"$bin" pause >/dev/null 2>&1 || true # nothing starts when agents end
	tmux -S "$ORANGE_HOME/tmux.sock" kill-server 2>/dev/null || true
	(until_it "the end of the agents" sh -c '! orange status | grep -q agent') || true # one that ends later starts a server again
	# What an agent of a busy machine still writes can be in the way of rm.
	(until_it "the end of what writes there" sh -c '"$0" stop; rm -rf "$1"' "$bin" "$work") || true
}
trap finish EXIT
say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
run() { # run ARGUMENTS...: prints the command so that it can be pasted, and runs it
	printf '$ orange'
	for word; do
		case $word in
		*[!0-9A-Za-z_./:=@,%+-]*) printf " '%s'" "$(printf %s "$word" | sed "s/'/'\\\\''/g")" ;;
		*) printf ' %s' "$word" ;;
		esac
	done
	printf '\n'
	orange "$@"
}
until_it() { # until_it WHAT COMMAND...: waits until the command succeeds
	what=$1; shift; n=0
	until "$@" >/dev/null 2>&1; do
		n=$((n + 1)); [ $n -lt 1500 ] || { echo "demo: waited in vain for: $what" >&2; exit 1; }
		sleep 0.02
	done
}
repository() { # repository NAME [FOLDER]: creates a git repository with a copy of the folder's files, and goes there
	git init -q -b main "$work/$1"
	cd "$work/$1"
	git config user.name demo
	git config user.email demo@localhost
	if [ $# -gt 1 ]; then cp -R "$2"/. .; else echo "$1" >README; fi
	git add . && git commit -qm 'start'
}
