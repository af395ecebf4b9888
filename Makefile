# What a developer and an operator do here, each as one word. `make` lists them.

SHELL       := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

GO       ?= go
LISTEN   ?= 127.0.0.1:8080
DATA     ?= ./pmx-data
LIVE     ?= ./pmx-live
REPLAY   ?= 127.0.0.1:8091
FUZZTIME ?= 20s
ARGS     ?=
# What go test is asked for: make test PKG=./rollups/... TESTFLAGS=-race
# The longest are begun first, so that none of them is left alone at the end.
PKG       ?= ./rollups/... ./engine/... ./cmd/... ./...
TESTFLAGS ?=
# How long one package's tests may take: a slow machine needs more than Go's ten minutes.
TIMEOUT   ?= 30m
# How many packages are tested at a time. The long runs take one more than there are processors, because tests also wait:
# it takes less time and more of the processors.
PROCESSORS := $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
AT_ONCE    ?= $(PROCESSORS)
# gold links a test with DuckDB in about half the time of GNU ld, where it is installed. Debugging information would take
# another third; panics show functions and lines without it.
LINKER    := -ldflags='-s -w$(if $(shell command -v ld.gold), -extldflags=-fuse-ld=gold)'

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
SOURCES := $(shell find cmd data docs engine http rollups -type f -not -name '*_test.go' -not -path '*/testdata/*') go.mod go.sum

LINT_VERSION := v2.15.0
LINT         := .cache/bin/golangci-lint-$(LINT_VERSION)
# Which licences are linked in, and the list of parts of a release.
LICENCES_VERSION := v1.6.0
LICENCES         := .cache/bin/go-licenses-$(LICENCES_VERSION)
PARTS_VERSION    := v1.10.0
PARTS            := .cache/bin/cyclonedx-gomod-$(PARTS_VERSION)
VULN_VERSION     := v1.9.0
VULN             := .cache/bin/govulncheck-$(VULN_VERSION)
# What make release builds for.
ARCHS ?= amd64 arm64

# Where the race detector pays: packages in which goroutines meet.
RACE := ./data/upstream/... ./http/... ./rollups/keeper/... ./rollups/serving/... ./rollups/segments/fillseg ./rollups/segments/textseg ./rollups/follow ./engine ./engine/guard ./engine/ledger
# Tests of definitions that one goroutine computes from start to end, each over many
# databases of its own: minutes under the detector, with nothing to detect.
RACE_SKIP := ADayThroughAllFaults|ChangePointsAsk|ReceiptsOfTheWeather|RevisionsOfAReanalysis|AStationsDay|DerivedNormals|RoundTrip|OrderOfFiles|CapturedDay|ScoredForecasts|ACityWithoutWeather|WeatherOfACity

.PHONY: help build run live test test-long race cover bench soak soak-smoke power-loss lint fmt fuzz clients cluster browser licences vulnerabilities deb try-deb release check tools clean

help: ## List what there is
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12
	@echo
	@echo 'Variables: LISTEN=$(LISTEN) DATA=$(DATA) LIVE=$(LIVE) REPLAY=$(REPLAY) PKG=$(PKG) TESTFLAGS= FUZZTIME=$(FUZZTIME) ARGS='

build: bin/pmx ## Build bin/pmx

bin/pmx: $(SOURCES) | tools
	@echo 'building bin/pmx $(VERSION) (the first time takes a minute)'
	@$(GO) build -trimpath -ldflags '-X main.version=$(VERSION)' -o $@ ./cmd/pmx

run: build ## Serve the sample venue on LISTEN, with a key of every tier
	@.ci/demo '$(DATA)' '$(LISTEN)'

live: build ## Follow a played venue as it trades: replay, and a server that follows it
	@.ci/live '$(LIVE)' '$(LISTEN)' '$(REPLAY)'

# make check vets the code once, and so does make lint; go test would vet each package again.
test: tools ## Run all tests and say what was skipped
	@$(GO) test -v -p $(AT_ONCE) -vet=off $(LINKER) -timeout $(TIMEOUT) $(TESTFLAGS) $(PKG) 2>&1 | .ci/brief

test-long: export PMX_TEST_LONG = 1
test-long race: AT_ONCE = $(shell echo $$(( $(PROCESSORS) + 1 )))
test-long: test ## Run all tests with every drawn case: what CI runs (see docs/design.md)

race: tools ## Run the tests of concurrent packages under the race detector
	@$(GO) test -v -race -p $(AT_ONCE) -vet=off $(LINKER) -timeout $(TIMEOUT) -skip '$(RACE_SKIP)' $(TESTFLAGS) $(RACE) 2>&1 | .ci/brief

cover: tools ## Check that tests run nine tenths of the feeds
	@mkdir -p .cache
	@$(GO) test -vet=off $(LINKER) -coverpkg=./data/feeds/... -coverprofile=.cache/feeds.cov ./data/feeds/... > .cache/feeds.log || { cat .cache/feeds.log; exit 1; }
	@$(GO) tool cover -func=.cache/feeds.cov | awk '/^total:/ { print "feeds: " $$3 " of the statements are run by tests, 90 % is the least"; exit ($$3 + 0 < 90) }'

bench: tools ## Measure; ARGS goes to the measuring tool
	@$(GO) run ./cmd/bench $(ARGS)

soak: build ## Try pmx under load and faults, for hours; ARGS goes to the tool: --for 10m --seed 7
	@$(GO) run ./cmd/bench/soak run $(ARGS)

soak-smoke: build ## Try a little of everything that make soak does, in about half a minute
	@$(GO) run ./cmd/bench/soak --seed 1 smoke

power-loss: build ## Shut down ext4 and XFS below a server without their log, as root
	@$(GO) run ./cmd/bench/soak power-loss $(ARGS)

lint: $(LINT) ## Check the code with golangci-lint
	@$(LINT) run ./...

$(LINT): | tools
	@echo 'building golangci-lint $(LINT_VERSION), once (some minutes)'
	@mkdir -p .cache/bin
	@GOBIN='$(CURDIR)/.cache/bin' GOFLAGS= $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)
	@mv .cache/bin/golangci-lint $@

fmt: $(LINT) ## Format the code
	@$(LINT) fmt ./...

fuzz: tools ## Run every fuzz target for FUZZTIME
	@GO='$(GO)' .ci/fuzz '$(FUZZTIME)'

clients: build ## Read answers and exports as other programs and generated clients do
	@.ci/clients

browser: build ## Look at the pages in Chromium, where it is installed
	@PMX_AXE="$$(.ci/axe)" PMX_BROWSER='$(CURDIR)/bin/pmx' $(GO) test -v -count=1 -timeout 30m -run RealBrowser ./http/web 2>&1 | .ci/brief

cluster: build ## Compute the rollups of a small lake on Sail, with SPARK=1 on Spark and with TRINO=URL on Trino too, and compare
	@.ci/cluster/run

licences: $(LICENCES) ## Write docs/licences.md, and fail on a licence that nobody has read
	@GO_LICENSES=$(LICENCES) .ci/licences

vulnerabilities: build $(VULN) ## Look up what is linked in in Go's database of vulnerabilities
	@GOVULNCHECK=$(VULN) .ci/vulnerabilities

deb: $(LICENCES) ## Build the Debian package of this machine, below dist/
	@GO='$(GO)' GO_LICENSES=$(LICENCES) .ci/release --only-deb '$(VERSION)' "$$(dpkg --print-architecture)"

try-deb: $(LICENCES) ## Install, start, upgrade and remove the package on a system that is thrown away
	@GO='$(GO)' GO_LICENSES=$(LICENCES) .ci/try-deb

release: $(LICENCES) $(PARTS) ## Build tarballs, Debian packages and lists of parts for ARCHS, below dist/
	@GO='$(GO)' GO_LICENSES=$(LICENCES) SBOM=$(PARTS) .ci/release '$(VERSION)' $(ARCHS)

$(LICENCES): | tools
	@mkdir -p .cache/bin
	@GOBIN='$(CURDIR)/.cache/bin' GOFLAGS= $(GO) install github.com/google/go-licenses@$(LICENCES_VERSION)
	@mv .cache/bin/go-licenses $@

$(VULN): | tools
	@mkdir -p .cache/bin
	@GOBIN='$(CURDIR)/.cache/bin' GOFLAGS= $(GO) install golang.org/x/vuln/cmd/govulncheck@$(VULN_VERSION)
	@mv .cache/bin/govulncheck $@

$(PARTS): | tools
	@mkdir -p .cache/bin
	@GOBIN='$(CURDIR)/.cache/bin' GOFLAGS= $(GO) install github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@$(PARTS_VERSION)
	@mv .cache/bin/cyclonedx-gomod $@

check: ## Run everything that CI runs
	@.ci/run

clean: ## Remove what was built; data and caches stay
	@rm -rf bin dist

# tools says in one sentence what is missing before anything fails because of it.
tools:
	@GO='$(GO)' .ci/tools
