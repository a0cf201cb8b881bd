#!/bin/sh
# Installs Orange for this system from a release archive, after it verified the archive's
# SHA-256 sum.
#
#   install.sh [--from FILE|FOLDER] [--prefix FOLDER] [--version VERSION]
#
#   --from     an archive, or a folder with archives; SHA256SUMS is beside it. Without it,
#              the files come from $ORANGE_RELEASES/vVERSION
#   --prefix   where bin and share are (default: /usr/local for root, else ~/.local)
set -eu

version=@VERSION@
base=${ORANGE_RELEASES:-@BASE_URL@}
from= prefix=

fail() {
	echo "install.sh: $*" >&2
	exit 1
}

while [ $# -gt 0 ]; do
	case $1 in
	--from | --prefix | --version)
		[ $# -gt 1 ] || fail "$1 needs a value"
		case $1 in
		--from) from=$2 ;;
		--prefix) prefix=$2 ;;
		--version) version=${2#v} ;;
		esac
		shift 2
		;;
	-h | --help)
		sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "$0"
		exit 0
		;;
	*) fail "argument $1 is not known: see install.sh --help" ;;
	esac
done

case $(uname -s) in
Linux) system=linux ;;
Darwin) system=darwin ;;
*) fail "there is no release for $(uname -s)" ;;
esac
case $(uname -m) in
x86_64 | amd64) processor=amd64 ;;
arm64 | aarch64) processor=arm64 ;;
*) fail "there is no release for $(uname -m)" ;;
esac

if [ -z "$prefix" ]; then
	if [ "$(id -u)" = 0 ]; then prefix=/usr/local; else prefix=$HOME/.local; fi
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

fetch() {
	if command -v curl >/dev/null 2>&1; then
		curl -fsSL -o "$2" "$1" || fail "$1 cannot be fetched"
	elif command -v wget >/dev/null 2>&1; then
		wget -q -O "$2" "$1" || fail "$1 cannot be fetched"
	else
		fail "curl or wget is needed to fetch a release; or give --from"
	fi
}

# Find the archive and the sums.
if [ -n "$from" ] && [ -f "$from" ]; then
	archive=$from sums=$(dirname "$from")/SHA256SUMS
elif [ -n "$from" ]; then
	[ -d "$from" ] || fail "$from is neither a file nor a folder"
	sums=$from/SHA256SUMS archive=
	for file in "$from"/orange_*_"${system}_$processor".tar.gz; do
		[ -f "$file" ] || continue
		[ -z "$archive" ] || fail "$from has more than one archive for $system/$processor: give one of them with --from"
		archive=$file
	done
	[ -n "$archive" ] || fail "$from has no archive for $system/$processor"
else
	case $base in
	@* | *.invalid/*) fail "no release is published yet: give --from FOLDER, or set ORANGE_RELEASES to the address of the releases" ;;
	esac
	case $version in @*) fail "give --version" ;; esac
	archive=$work/orange_${version}_${system}_$processor.tar.gz sums=$work/SHA256SUMS
	fetch "$base/v$version/SHA256SUMS" "$sums"
	fetch "$base/v$version/${archive##*/}" "$archive"
fi

# Verify. A file without a sum is not installed.
name=${archive##*/}
[ -f "$sums" ] || fail "$sums is missing: it holds the sum that $name must have"
wanted=$(awk -v name="$name" '$2 == name || $2 == "*" name { print $1 }' "$sums")
[ -n "$wanted" ] || fail "$sums has no sum for $name"
if command -v sha256sum >/dev/null 2>&1; then
	sum=$(sha256sum <"$archive")
elif command -v shasum >/dev/null 2>&1; then
	sum=$(shasum -a 256 <"$archive")
else
	fail "sha256sum or shasum is needed to verify $name"
fi
[ "${sum%% *}" = "$wanted" ] || fail "$name has the sum ${sum%% *}, and SHA256SUMS says $wanted: nothing was installed"

# Install. The program is replaced in one step, so that one that runs is not disturbed.
mkdir "$work/files"
tar -xzf "$archive" -C "$work/files"
files=$work/files/${name%.tar.gz}
[ -f "$files/orange" ] || fail "$name does not hold ${name%.tar.gz}/orange"
put() {
	mkdir -p "$(dirname "$2")"
	cp "$1" "$2.new"
	chmod "$3" "$2.new"
	mv -f "$2.new" "$2"
}
put "$files/orange" "$prefix/bin/orange" 755
put "$files/completions/orange.bash" "$prefix/share/bash-completion/completions/orange" 644
put "$files/completions/_orange" "$prefix/share/zsh/site-functions/_orange" 644
put "$files/completions/orange.fish" "$prefix/share/fish/vendor_completions.d/orange.fish" 644
for page in "$files"/man/man1/*.1; do put "$page" "$prefix/share/man/man1/${page##*/}" 644; done
for text in LICENSE THIRD-PARTY-NOTICES.txt CHANGELOG.md; do put "$files/$text" "$prefix/share/doc/orange/$text" 644; done

"$prefix/bin/orange" version >/dev/null || fail "$prefix/bin/orange does not run"
echo "Installed $("$prefix/bin/orange" version) in $prefix/bin"
case ":$PATH:" in
*":$prefix/bin:"*) ;;
*) echo "$prefix/bin is not in your PATH: export PATH=\"$prefix/bin:\$PATH\"" ;;
esac
for tool in git tmux; do
	command -v "$tool" >/dev/null 2>&1 || echo "$tool is missing: install it, then run orange doctor"
done
