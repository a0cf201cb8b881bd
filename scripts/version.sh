#!/bin/sh
# Prints the flags of the linker that stamp the version and the commit. A commit without a tag
# has the version 0.1.0-dev+COMMIT; uncommitted changes add .dirty and their hash, so that no two
# builds have the same version. Outside a git repository it prints nothing.
set -eu
cd "$(dirname "$0")/.."

next=0.1.0
commit=$(git rev-parse HEAD 2>/dev/null) || exit 0
short=$(git rev-parse --short=12 HEAD)
version=$(git describe --tags --exact-match --match 'v[0-9]*' 2>/dev/null) || version=$next-dev+$short
version=${version#v}
if [ -n "$(git status --porcelain --untracked-files=no)" ]; then
	case $version in *+*) mark=. ;; *) mark=+ ;; esac
	version=$version${mark}dirty.$(git diff --no-ext-diff HEAD | git hash-object --stdin | cut -c1-8)
fi
echo "-X main.version=$version -X main.commit=$commit"
