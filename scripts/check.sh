#!/bin/sh
# Checks everything before a change is merged: format, vet, staticcheck, and every test. Tests run with
# the race detector, except those that search the states of workflows: the tests of the documents, and
# those of the model checker. The model checker starts no goroutines (layers_test.go), so only the test
# that calls it from several goroutines runs with the race detector.
set -eu
cd "$(dirname "$0")/.."

ORANGE_NPM_DIR=$(scripts/contracts.sh)
export ORANGE_NPM_DIR
for name in chromium chromium-browser google-chrome; do
	if command -v "$name" >/dev/null 2>&1; then # then its tests must not skip
		ORANGE_CHROMIUM=$(command -v "$name")
		export ORANGE_CHROMIUM
		break
	fi
done

echo "== gofmt"
unformatted=$(git ls-files -co --exclude-standard '*.go' | xargs gofmt -l)
if [ -n "$unformatted" ]; then
	echo "not formatted, run gofmt -w on:"
	echo "$unformatted"
	exit 1
fi
echo "== go vet"
go vet ./...
echo "== go vet, macOS"
GOOS=darwin go vet ./cmd/orange ./internal/server/...
echo "== go vet and go test, tools"
go -C tools vet ./...
go -C tools test ./...
echo "== staticcheck"
go tool staticcheck ./...
echo "== go test, the documents"
go tool gotestsum --format pkgname -- -timeout 60m .
go test -race -timeout 60m -run '^TestAReportDoesNotDependOnHowTheWorkIsShared$' ./internal/core/verify
# The model checker needs only processors, and most other tests wait for processes: they run beside
# each other, and the model checker takes what the others leave.
checker=$(mktemp)
report=
checking=
files=$(scripts/memory.sh)
trap 'test -z "$checking" || kill "$checking" 2>/dev/null; rm -rf "$checker" $report "$files"' EXIT
nice -n 5 go tool gotestsum --format pkgname -- -timeout 60m ./internal/core/verify >"$checker" 2>&1 &
checking=$!
echo "== go test -race, everything else"
packages=$(go list ./... | grep -v -e '^orange$' -e /internal/core/verify)
reruns=
if [ "${CI:-}" = true ]; then
	# On a shared machine, run a few failed tests again, and list at the end those that then
	# pass: each is a defect that make soak, which runs nothing twice, has to find.
	report=$(mktemp)
	reruns="--rerun-fails=2 --rerun-fails-max-failures=6 --rerun-fails-run-root-test --rerun-fails-abort-on-data-race --rerun-fails-report=$report"
fi
status=0
export GORACE=atexit_sleep_ms=0 # without it, every process with the race detector takes a second to exit
# Most tests wait for processes, so more of them run at the same time than there are processors.
# shellcheck disable=SC2086 # the flags are words
TMPDIR=$files GOTMPDIR=$files go tool gotestsum --format pkgname --format-hide-empty-pkg $reruns --packages "$packages" -- $(scripts/race.sh) -parallel 4 -timeout 60m || status=$?
echo "== go test, the model checker"
wait "$checking" || status=$?
checking=
cat "$checker"
if [ -n "$reruns" ] && [ -s "$report" ]; then
	echo "== tests that were run again"
	cat "$report"
fi
exit $status
