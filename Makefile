# make demo   run the main job from end to end on the embedded default
# make demo-board  one card over the embedded board, with five roles
# make demo-linear  three issues of a Linear team, with Orange and Linear killed in the middle
# make quick  the tests that need no server, terminal, browser, npm, model checker or thousands of processes; internal/testneeds says how tests are left out
# make test   run the tests
# make check  everything the gate asks for: format, vet, staticcheck, tests with the race detector
# make soak   packages that start processes, ten times with the race detector under load; see scripts/soak.sh
# make test-agents  run the real agent CLIs, from npm, against a scripted model on loopback
# make test-forge  a real Gitea, built from its module: push, pull request, status, merge
# make test-linear ORANGE_LINEAR_SCHEMA=/FILE  compare the fake Linear with the schema.graphql that Linear publishes with its SDK
# make release VERSION=v0.1.0  programs, archives, packages and sums in dist; see docs/RELEASES.md
# make test-release  build a release twice and compare, then install it into clean roots and run it
# make audit  look for known vulnerabilities in what the program calls
# make tour   make the pictures of docs/TOUR.md again, and pictures of every page in dist/tour
# make tour-agents  make the pictures of docs/GETTING-STARTED.md with real agents again, and print how long the first one takes
# make fuzz   run every fuzz target for 10 s; it is no part of make check
# make bench  measure what docs/PERFORMANCE.md states

GO ?= go
BIN := bin/orange

.PHONY: build release test-release audit tour tour-agents demo demo-board demo-linear quick test test-agents test-forge test-linear check soak bench fuzz crash clean tools tools-test

build:
	@mkdir -p bin
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags "$$(scripts/version.sh)" -o $(BIN) ./cmd/orange

release:
	$(GO) -C tools run ./release -version "$(VERSION)"

test-release: tools
	$(GO) -C tools run ./testrelease

audit:
	@$(GO) -C tools run ./audit

demo: tools build
	@scripts/demo.sh $(BIN)

demo-board: tools build
	@scripts/demo-board.sh $(BIN)

demo-linear: tools build
	$(GO) build -o bin/ ./internal/trackertest/fakelinear/...
	@scripts/demo-linear.sh $(BIN) bin/serve bin/person

# Many tests wait, so more packages run at the same time than there are processors.
quick:
	@files=$$(scripts/memory.sh) && trap 'rm -rf "$$files"' EXIT && \
		TMPDIR=$$files GOTMPDIR=$$files $(GO) test -short -p $$((2 * $$(getconf _NPROCESSORS_ONLN))) ./...

test: tools-test
	@files=$$(scripts/memory.sh) && trap 'rm -rf "$$files"' EXIT && \
		ORANGE_NPM_DIR=$$(scripts/contracts.sh) TMPDIR=$$files GOTMPDIR=$$files $(GO) test -timeout 60m ./...

test-agents: tools
	@scripts/agents.sh
	$(GO) test -tags agents -count=1 -timeout 60m ./test/agents/...

tour-agents: tools
	@scripts/agents.sh
	ORANGE_PICTURES=$(CURDIR)/docs/pictures $(GO) test -tags agents -count=1 -v -timeout 30m -run TestTheFirstAgentFromARelease ./test/agents

test-forge: tools
	@scripts/forge.sh

test-linear:
	ORANGE_LINEAR_SCHEMA=$(ORANGE_LINEAR_SCHEMA) $(GO) test -tags linear -count=1 -run 'Schema' ./internal/trackertest/fakelinear ./internal/adapter/linear

check: tools-test
	@scripts/check.sh

soak: tools-test
	@scripts/soak.sh

tour: tools-test build
	$(GO) build -o bin/tour ./test/tour
	@mkdir -p docs/pictures dist/tour
	@scripts/tour.sh $(BIN) bin/tour docs/pictures dist/tour

bench: build
	@scripts/bench.sh

fuzz:
	@scripts/fuzz.sh

crash: build
	$(GO) test -run TestCrash -v ./cmd/orange

tools:
	@scripts/tools.sh

tools-test:
	@scripts/tools.sh test

clean:
	rm -rf bin dist
