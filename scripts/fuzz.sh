#!/bin/sh
# Runs every fuzz target for a while each, with two workers. Argument: how long, like 30s or
# 5m; the default is 10s. A target that is not built on this system, and so does not run, is an error.
set -eu
cd "$(dirname "$0")/.."

time=${1:-10s}
found=0
wrong=
said=$(mktemp)
trap 'rm -f "$said"' EXIT
for file in $(git ls-files -co --exclude-standard '*_test.go' | xargs grep -l '^func Fuzz' | sort); do
	dir=$(dirname "$file")
	for target in $(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$file"); do
		echo "== $dir $target"
		found=$((found + 1))
		if go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 20x -parallel 2 "./$dir" >"$said" 2>&1; then
			grep -q '^fuzz: elapsed' "$said" && continue # go also prints ok if there is no such target
			echo "the target did not run: see its build constraints"
		fi
		# The go tool sometimes reports the end of the time itself as a failure
		# (golang.org/issue/75804). A finding is always written to a file.
		if grep -q 'context deadline exceeded' "$said" && ! grep -q 'Failing input written\|panic\|build failed' "$said"; then
			continue
		fi
		cat "$said"
		wrong="$wrong $dir:$target"
	done
done
if [ "$found" -eq 0 ]; then
	echo "no fuzz target was found: run this in a checkout" >&2
	exit 1
fi
echo "$found targets, $time each"
if [ -n "$wrong" ]; then
	echo "findings:$wrong" >&2
	exit 1
fi
