# make demo   run the main job from end to end on the embedded default
# make demo-board  one card over the embedded board, with five roles
# make test   run the tests
# make check  everything the gate asks for: format, vet, staticcheck, tests with the race detector
# make test-agents  run the real agent CLIs, from npm, against a scripted model on loopback
# make bench  measure what docs/PERFORMANCE.md states

GO ?= go
BIN := bin/orange

.PHONY: build demo demo-board test test-agents check bench fuzz crash clean tools

build:
	@mkdir -p bin
	$(GO) build -trimpath -o $(BIN) ./cmd/orange

demo: tools build
	@scripts/demo.sh $(BIN)

demo-board: tools build
	@scripts/demo-board.sh $(BIN)

test: tools
	$(GO) test ./...

test-agents: tools
	@scripts/agents.sh
	$(GO) test -tags agents -count=1 -timeout 60m ./test/agents/...

check: tools
	@scripts/check.sh

bench: build
	@scripts/bench.sh

fuzz:
	@scripts/fuzz.sh

crash: build
	$(GO) test -run TestCrash -v ./cmd/orange

tools:
	@scripts/tools.sh

clean:
	rm -rf bin dist
