# Targets for developers and operators. `make` lists them.

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
REF      ?=
# The packages to test, and flags of go test: make test PKG=./rollups/... TESTFLAGS=-race
# The slowest packages start first, so that none of them runs alone at the end.
PKG       ?= ./engine/ingest ./rollups/... ./engine/... ./cmd/... ./...
TESTFLAGS ?=
# The time limit for the tests of a package. On a slow machine Go's ten minutes are too short.
TIMEOUT   ?= 40m
# How many packages are tested at once. Long runs test two more than there are processors, because tests also wait:
# they take less time and use the processors better.
PROCESSORS := $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
AT_ONCE    ?= $(PROCESSORS)
# gold, if it is installed, links a test with DuckDB in about half the time of GNU ld. Debugging information would take
# another third; panics show functions and lines without it.
LINKER    := -ldflags='-s -w$(if $(shell command -v ld.gold), -extldflags=-fuse-ld=gold)'

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
SOURCES := $(shell find cmd data docs engine http rollups -type f -not -name '*_test.go' -not -path '*/testdata/*') go.mod go.sum

LINT_VERSION := v2.15.0
LINT         := .cache/bin/golangci-lint-$(LINT_VERSION)
# The tools that list the licences of linked packages, and the modules in a release.
LICENCES_VERSION := v1.6.0
LICENCES         := .cache/bin/go-licenses-$(LICENCES_VERSION)
PARTS_VERSION    := v1.10.0
PARTS            := .cache/bin/cyclonedx-gomod-$(PARTS_VERSION)
VULN_VERSION     := v1.9.0
VULN             := .cache/bin/govulncheck-$(VULN_VERSION)
# The architectures that make release builds for.
ARCHS ?= amd64 arm64

# The packages that make race tests: those in which goroutines share data.
RACE := ./data/upstream/... ./http/... ./rollups/keeper/... ./rollups/serving/... ./rollups/segments/fillseg ./rollups/segments/textseg ./rollups/follow ./engine ./engine/guard ./engine/ledger
# Tests of definitions that a single goroutine computes, each with many databases. They would
# take minutes under the detector, which would have nothing to detect.
RACE_SKIP := ADayThroughAllFaults|ChangePointsAsk|ReceiptsOfTheWeather|RevisionsOfAReanalysis|AStationsDay|DerivedNormals|RoundTrip|OrderOfFiles|CapturedDay|ScoredForecasts|ACityWithoutWeather|WeatherOfACity

.PHONY: help build run live test test-long same race cover bench soak soak-smoke power-loss lint fmt fuzz clients cluster browser licences vulnerabilities deb try-deb release check tools clean

help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12
	@echo
	@echo 'Variables: LISTEN=$(LISTEN) DATA=$(DATA) LIVE=$(LIVE) REPLAY=$(REPLAY) PKG=$(PKG) TESTFLAGS= FUZZTIME=$(FUZZTIME) ARGS='

build: bin/pmx ## Build bin/pmx

bin/pmx: $(SOURCES) | tools
	@echo 'building bin/pmx $(VERSION) (the first time takes a minute)'
	@$(GO) build -trimpath -ldflags '-X main.version=$(VERSION)' -o $@ ./cmd/pmx

run: build ## Serve the sample venue on LISTEN, with a key of every tier
	@.ci/demo '$(DATA)' '$(LISTEN)'

live: build ## Simulate a venue that is trading now, and run a server that follows it
	@.ci/live '$(LIVE)' '$(LISTEN)' '$(REPLAY)'

# make lint vets the code, with the analyzers of go vet; go test would vet each package again.
test: tools ## Run all tests, and report which were skipped
	@$(GO) test -v -p $(AT_ONCE) -vet=off $(LINKER) -timeout $(TIMEOUT) $(TESTFLAGS) $(PKG) 2>&1 | .ci/brief

test-long: export PMX_TEST_LONG = 1
test-long race: AT_ONCE = $(shell echo $$(( $(PROCESSORS) + 2 )))
test-long: test ## Run all tests with every random case, as CI does (see docs/design.md)

same: tools ## Compare every response on a sample venue with those of another commit: make same REF=COMMIT
	@GO='$(GO)' .ci/same '$(REF)'

race: tools ## Run the tests of concurrent packages under the race detector
	@$(GO) test -v -race -p $(AT_ONCE) -vet=off $(LINKER) -timeout $(TIMEOUT) -skip '$(RACE_SKIP)' $(TESTFLAGS) $(RACE) 2>&1 | .ci/brief

cover: tools ## Check that tests cover 90 % of the feeds' statements
	@mkdir -p .cache
	@$(GO) test -vet=off $(LINKER) -coverpkg=./data/feeds/... -coverprofile=.cache/feeds.cov ./data/feeds/... > .cache/feeds.log || { cat .cache/feeds.log; exit 1; }
	@$(GO) tool cover -func=.cache/feeds.cov | awk '/^total:/ { print "feeds: " $$3 " of the statements are covered, at least 90 % must be"; exit ($$3 + 0 < 90) }'

bench: tools ## Run benchmarks; ARGS are the flags of cmd/bench
	@$(GO) run ./cmd/bench $(ARGS)

soak: build ## Test pmx under load and faults for hours; ARGS are flags of cmd/bench/soak: --for 10m --seed 7
	@$(GO) run ./cmd/bench/soak run $(ARGS)

soak-smoke: build ## Test each kind of fault of make soak briefly, in about half a minute
	@$(GO) run ./cmd/bench/soak --seed 1 smoke

power-loss: build ## Shut down ext4 and XFS under a running server without flushing their journals, as root
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
	@GO='$(GO)' LINKER=$(LINKER) .ci/fuzz '$(FUZZTIME)'

clients: build ## Read responses and exports with other programs and generated clients
	@.ci/clients

browser: build ## Test the web pages in Chromium, if it is installed
	@PMX_AXE="$$(.ci/axe)" PMX_BROWSER='$(CURDIR)/bin/pmx' $(GO) test -v -count=1 -vet=off $(LINKER) -timeout 30m -run RealBrowser ./http/web 2>&1 | .ci/brief

cluster: build ## Compute the rollups of a small lake on Sail, with SPARK=1 also on Spark, with TRINO=URL also on Trino, and compare
	@.ci/cluster/run

licences: $(LICENCES) ## Write docs/licences.md; fails on a licence that nobody has read yet
	@GO_LICENSES=$(LICENCES) .ci/licences

vulnerabilities: build $(VULN) ## Look up the linked modules in Go's vulnerability database
	@GOVULNCHECK=$(VULN) .ci/vulnerabilities

deb: $(LICENCES) ## Build the Debian package for this machine, below dist/
	@GO='$(GO)' GO_LICENSES=$(LICENCES) .ci/release --only-deb '$(VERSION)' "$$(dpkg --print-architecture)"

try-deb: $(LICENCES) ## Install, start, upgrade and remove the package on a temporary system
	@GO='$(GO)' GO_LICENSES=$(LICENCES) .ci/try-deb

release: $(LICENCES) $(PARTS) ## Build tarballs, Debian packages and SBOMs for ARCHS, below dist/
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

clean: ## Remove built files; data and caches are kept
	@rm -rf bin dist

# tools says which tool is missing, before anything fails for lack of it.
tools:
	@GO='$(GO)' .ci/tools
