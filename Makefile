# make demo   run the main job from end to end on the embedded default
# make test   run the tests
# make check  everything the gate asks for: format, vet, staticcheck, tests with the race detector
# make test-agents  run the real agent CLIs, from npm, against a scripted model on loopback
# make bench  measure what docs/PERFORMANCE.md states

GO ?= go
BIN := bin/orange

.PHONY: build demo test test-agents check bench fuzz crash clean tools

build:
	@mkdir -p bin
	$(GO) build -trimpath -o $(BIN) ./cmd/orange

demo: tools build
	@scripts/demo.sh $(BIN)

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
