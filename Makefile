# Termic. `make run` and `make test` install what is missing by themselves; `make help` lists the rest.

SHELL         := /bin/bash
.SHELLFLAGS   := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS     += --no-builtin-rules

# Toolchains that set-up had to download come before the machine's own.
export PATH := $(CURDIR)/.tools/go/bin:$(CURDIR)/.tools/node/bin:$(PATH)

# The version comes from build/version.sh; Go asking git for it too fails in a checkout of another user.
export GOFLAGS := $(GOFLAGS) -buildvcs=false

VERSION       = $(shell build/version.sh)
# Where builds of yours ask for newer releases, if their users want it, and the public key that the feed is signed by: none by default.
UPDATE_ADDRESS ?=
UPDATE_KEY     ?=
export UPDATE_ADDRESS UPDATE_KEY
LDFLAGS       = -s -w -X main.version=$(VERSION) -X "main.updateAddress=$(UPDATE_ADDRESS)" -X "main.updateKey=$(UPDATE_KEY)"
# The same flags for builds and tests let them share what the compiler made; a release adds -trimpath.
GO_BUILD      = go build $(BUILD_FLAGS) -ldflags '$(LDFLAGS)'
HEADLESS      = -tags headless
WINDOW        = -tags desktop,production,webkit2_41
TIMEOUT      ?= 20m
FUZZTIME     ?= 30s
UI_SOURCES    = $(shell find frontend -path frontend/node_modules -prune -o -path frontend/dist -prune -o -type f -print 2>/dev/null)

.PHONY: help
help: ## show this list
	@sed -nE 's/^([a-z0-9-]+):.*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 22

# ---- Run and build ------------------------------------------------------------------------------

.PHONY: run run-window run-headless
run: run-$(if $(DISPLAY)$(WAYLAND_DISPLAY),window,headless) ## install what is missing, build, and open the app

run-window: build
	build/bin/termic

run-headless: headless
	@echo 'There is no display here, so this is Termic without its window. Another terminal can drive it:'
	@echo '    build/bin/termic-headless help'
	build/bin/termic-headless serve

.PHONY: build
build: setup-window frontend/dist/index.html helper ## build the app with its window: build/bin/termic
	CGO_ENABLED=1 $(GO_BUILD) $(WINDOW) -o build/bin/termic .

.PHONY: headless
headless: setup-headless helper ## build the app without a window: build/bin/termic-headless
	CGO_ENABLED=0 $(GO_BUILD) $(HEADLESS) -o build/bin/termic-headless .

# Static and without cgo: it starts once for each cage, and knows nothing of the window's libraries.
.PHONY: helper
helper: setup-headless
	CGO_ENABLED=0 $(GO_BUILD) -o build/bin/termic-cage ./sandbox/cmd/termic-cage

# ---- Set-up: each step looks first, so that a second run is quick -------------------------------

.PHONY: setup-headless setup-window setup-test setup-pictures setup-package setup-bench
setup-headless:
	@build/setup/packages.sh headless
	@build/setup/toolchain.sh go

setup-window: setup-headless
	@build/setup/packages.sh window
	@build/setup/toolchain.sh node

setup-test: setup-window
	@build/setup/packages.sh test

setup-pictures: setup-test
	@build/setup/packages.sh pictures

setup-package:
	@build/setup/packages.sh package

setup-bench:
	@build/setup/packages.sh bench

frontend/node_modules/.installed: frontend/package.json frontend/package-lock.json frontend/.npmrc | setup-window
	npm --prefix frontend ci
	@touch $@

frontend/dist/index.html: frontend/node_modules/.installed $(UI_SOURCES)
	npm --prefix frontend run build
	@touch $@

# ---- Tests --------------------------------------------------------------------------------------

.PHONY: test
test: setup-test build headless ## every test: Go, frontend, UI in Chromium, the real window under Xvfb
	@$(MAKE) --no-print-directory --keep-going test-go test-layers test-sdk test-app test-frontend test-ui test-window # one that is red hides no other

.PHONY: test-go
test-go: setup-headless ## the Go tests that need no window; `make check` vets
	CGO_ENABLED=0 go test -vet=off -timeout $(TIMEOUT) $(HEADLESS) ./...

.PHONY: test-layers
test-layers: setup-headless ## cages with one layer left out: each must turn a named probe red
	CGO_ENABLED=0 go test -count=1 -timeout $(TIMEOUT) -tags headless,weakcage -run Layer ./sandbox/...

.PHONY: test-sdk
test-sdk: setup-headless ## the MCP endpoint as the official Go SDK sees it (a module of its own)
	cd mcp/sdktest && CGO_ENABLED=0 go test -timeout $(TIMEOUT) $(HEADLESS) ./...

.PHONY: test-app
test-app: build
	CGO_ENABLED=1 go test -timeout $(TIMEOUT) $(WINDOW) . ./app/...

.PHONY: test-frontend
test-frontend: frontend/node_modules/.installed
	npm --prefix frontend test

.PHONY: test-ui
test-ui: headless frontend/dist/index.html
	npm --prefix frontend run test:ui

.PHONY: pictures
pictures: setup-pictures headless frontend/dist/index.html ## draw docs/pictures again: every screen and dialog, in both themes
	node frontend/tests/pictures.mjs $(PICTURES)

.PHONY: test-window
test-window: build
	build/window-test.sh npm --prefix frontend run test:window

.PHONY: test-race
test-race: setup-window ## the Go tests under the race detector
	CGO_ENABLED=1 go test -race -timeout 30m $(HEADLESS) ./...

.PHONY: check
check: setup-window frontend/dist/index.html ## format, vet, staticcheck, layers, generated files, frontend lint and types
	build/check.sh

.PHONY: gen
gen: setup-headless ## write the generated files again
	CGO_ENABLED=0 go run $(HEADLESS) ./internal/verb/gen
	CGO_ENABLED=0 go test $(HEADLESS) ./settings -run '^TestSettingsDoc$$' -update

.PHONY: fuzz-short
fuzz-short: setup-headless ## every fuzz target for 30 seconds (FUZZTIME)
	build/fuzz.sh $(FUZZTIME)

.PHONY: cover
cover: setup-headless ## statement coverage of the packages that carry authority, and verdicts of the attack table (some minutes)
	build/cover.sh

.PHONY: mutate
mutate: setup-headless ## change the code that decides, place by place: a test must turn red each time (MUTATE_FLAGS)
	CGO_ENABLED=0 go run $(HEADLESS) ./build/mutate $(MUTATE_FLAGS)

.PHONY: kill-loop
kill-loop: setup-headless ## kill the app at 500 random instants while verbs run, and compare what is left
	TERMIC_KILL_ROUNDS=500 CGO_ENABLED=0 go test -count=1 -timeout 90m $(HEADLESS) -run '^TestKillLoop$$' -v ./internal/e2e

.PHONY: faults
faults: setup-headless ## what happens to an app whose disk, database, git, descriptors, terminals or cages fail (as root); writes the table in bench/README.md
	@mkdir -p bench/out
	TERMIC_FAULTS=1 CGO_ENABLED=0 go test -count=1 -timeout 30m $(HEADLESS) -run '^TestFault|^TestKillLoop$$|^TestStopped|^TestLeftovers|^TestPortThatIsTaken$$' -v ./internal/e2e | tee bench/out/faults | grep -E '^ *(--- |FAIL|ok)|NOT TESTED|_test.go'
	CGO_ENABLED=0 go test -count=1 $(HEADLESS) -run 'SuspendAndClockJumps|AfterSuspend' -v ./internal/verb ./internal/check | tee -a bench/out/faults | grep -E '^(--- |FAIL|ok)'
	bench/faults.sh <bench/out/faults | bench/write.sh faults

SOAK ?= 3m

.PHONY: soak
soak: setup-headless ## 200 live tasks, a stream of calls and slow clients for 3 minutes (SOAK): nothing may grow; writes the table in bench/README.md
	TERMIC_SOAK=$(SOAK) CGO_ENABLED=0 go test -count=1 -timeout 2h $(HEADLESS) -run '^TestSoak$$' -v ./internal/e2e | tee /dev/stderr | grep '^|' | bench/write.sh soak

.PHONY: e2e-clients
e2e-clients: setup-test headless ## the real claude and codex against a fake model (downloads 800 MB once)
	TIMEOUT=90m build/e2e-clients.sh -v

.PHONY: probe-clients
probe-clients: setup-test headless ## which MCP clients reach the endpoint: writes the table in docs/clients.md
	build/probe-clients.sh

.PHONY: conformance
conformance: setup-window ## the public MCP conformance suite and the TypeScript client (downloads 200 MB once)
	build/conformance.sh -v

.PHONY: test-kernels
test-kernels: setup-headless ## the cage's tests in virtual machines with other kernels (downloads 60 MB once)
	build/kernels.sh $(KERNELS)

.PHONY: bench
bench: setup-headless setup-bench headless ## the measures of bench/ without a window: writes the tables in bench/README.md
	@mkdir -p bench/out
	CGO_ENABLED=0 go run $(HEADLESS) ./bench | tee bench/out/app
	cd bench/mcp && CGO_ENABLED=0 go run . | tee ../out/mcp
	bench/write.sh app <bench/out/app >/dev/null && bench/write.sh mcp <bench/out/mcp >/dev/null

.PHONY: bench-window
bench-window: build setup-test ## the measures of the real window under Xvfb: writes the table in bench/README.md
	build/window-test.sh node bench/window/run.mjs --write bench/README.md $(BENCH_FLAGS)

.PHONY: site
site: setup-headless ## make one static site of all pages, with a search: build/out/site
	CGO_ENABLED=0 go run ./build/site build/out/site

# ---- Packages -----------------------------------------------------------------------------------

.PHONY: package
package: setup-window setup-package frontend/dist/index.html ## make the packages of this version in build/out: .deb, AppImage, tar.gz, SBOM
	build/package/package.sh $(OUT)
	build/package/sizes.sh $(or $(OUT),build/out)

.PHONY: test-package
test-package: setup-test setup-package frontend/dist/index.html ## make the packages twice, compare them, install and start each
	build/package/test.sh

.PHONY: release
release: package ## sign the checksums of the packages with a key of yours: KEY=path to an ssh key
	build/package/sign.sh "$(KEY)" $(OUT)

.PHONY: clean
clean: ## remove what was built, keep what was downloaded
	rm -rf build/bin build/out frontend/dist frontend/node_modules/.installed bench/out
	! command -v go >/dev/null || go clean -testcache
