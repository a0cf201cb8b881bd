#!/bin/sh
# Runs test/forge against a real Gitea. The script builds Gitea once, from the Go module proxy, at
# the version that was tested, in ORANGE_FORGE_DIR, or in orange-forge in the cache folder of the
# user: about 150 MB, after a build that takes many minutes. ORANGE_GITEA_BIN names an existing
# program instead. Arguments go to go test.
set -eu

version=1.25.5
dir=${ORANGE_FORGE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/orange-forge}
home=$dir/gitea-$version

need() {
	command -v "$1" >/dev/null 2>&1 || {
		echo "forge: $1 is missing: $2" >&2
		exit 1
	}
}

# build compiles Gitea in a temporary folder and moves it into place when it is complete: the program
# and the files that it reads.
build() {
	need cc "install a C compiler, which SQLite needs"
	mkdir -p "$dir"
	work=$(mktemp -d "$dir/build.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	trap 'exit 1' HUP INT TERM

	echo "building Gitea $version into $home: this takes many minutes, once" >&2
	from=$(cd "$work" && go mod download -json "code.gitea.io/gitea@v$version" |
		sed -n 's/^[[:space:]]*"Dir": "\(.*\)",*$/\1/p')
	[ -d "$from" ] || {
		echo "forge: Gitea $version cannot be fetched: check that the address in go env GOPROXY can be reached" >&2
		exit 1
	}
	cp -R "$from" "$work/source"
	chmod -R u+w "$work/source"
	mkdir "$work/gitea"
	(cd "$work/source" && CGO_ENABLED=1 go build -trimpath -tags "sqlite sqlite_unlock_notify" \
		-ldflags "-s -w -X main.Version=$version" -o "$work/gitea/gitea" .)
	for folder in options public templates; do
		mv "$work/source/$folder" "$work/gitea/$folder"
	done
	rm -rf "$home"
	mv "$work/gitea" "$home"
	rm -rf "$work"
	trap - EXIT HUP INT TERM
}

need go "install Go"
need git "install git"
if [ -z "${ORANGE_GITEA_BIN:-}" ]; then
	ORANGE_GITEA_BIN=$home/gitea
	[ -x "$ORANGE_GITEA_BIN" ] || (
		# Gitea names replacements in its go.mod, so it is the main module of its build.
		export GOFLAGS="-mod=mod -buildvcs=false" GOTOOLCHAIN=local GOWORK=off
		build
	)
fi
[ -x "$ORANGE_GITEA_BIN" ] || {
	echo "forge: ORANGE_GITEA_BIN=$ORANGE_GITEA_BIN is not a program: unset it, and this script builds Gitea" >&2
	exit 1
}
export ORANGE_GITEA_BIN
"$ORANGE_GITEA_BIN" --version
cd "$(dirname "$0")/.."
exec go test -tags forge -count=1 -timeout 40m "$@" ./test/forge/...
