#!/bin/sh
# Measures what docs/PERFORMANCE.md states. Arguments: -json, -update, -only NAMES.
set -eu
cd "$(dirname "$0")/.."

mkdir -p bin
CGO_ENABLED=0 go build -trimpath -ldflags "$(scripts/version.sh)" -o bin/orange ./cmd/orange
exec go run ./bench "$@"
