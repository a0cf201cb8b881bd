#!/bin/sh
# The gate: format, vet, staticcheck, and every test with the race detector.
set -eu
cd "$(dirname "$0")/.."

echo "== gofmt"
unformatted=$(git ls-files -co --exclude-standard '*.go' | xargs gofmt -l)
if [ -n "$unformatted" ]; then
	echo "not formatted, run gofmt -w on:"
	echo "$unformatted"
	exit 1
fi
echo "== go vet"
go vet ./...
echo "== staticcheck"
go tool staticcheck ./...
echo "== go test -race"
go tool gotestsum --format pkgname --format-hide-empty-pkg -- -race -timeout 20m ./...
