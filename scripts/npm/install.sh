#!/bin/sh
# install.sh NAME FOLDER installs the packages of NAME/package-lock.json into FOLDER. Each
# must have the sum in the lock file, and none runs a program when it is installed. The folder is
# replaced at the end, so that a failure leaves what is there.
set -eu
name=$1 dir=$2
cd "$(dirname "$0")/$name"

new=$dir.new.$$
trap 'rm -rf "$new"' EXIT
mkdir -p "$new"
cp package.json package-lock.json "$new"
echo "installing scripts/npm/$name into $dir" >&2
# A registry that does not answer must not hold up the tests for ever.
patience=$(command -v timeout >/dev/null 2>&1 && echo "timeout 600" || true)
(cd "$new" && $patience npm ci --ignore-scripts --omit-lockfile-registry-resolved=true --no-fund --no-audit --loglevel=error >&2)
rm -rf "$dir"
mv "$new" "$dir"
