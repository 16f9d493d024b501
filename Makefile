# Every target prints what it measures or checks; `make` alone lists them.
GO ?= go

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## build both commands into bin/, as the image and releases have them
	CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=auto -ldflags "-s -w -buildid=" -o bin/ ./cmd/worker ./cmd/publisher

.PHONY: tools
tools: ## build nats-server and the nats command, in the versions that the documentation is tested with, and a model server to practise on, into bin/
	$(GO) build -modfile=tools/go.mod -o bin/ github.com/nats-io/nats-server/v2 github.com/nats-io/natscli/nats
	$(GO) build -o bin/practice-model ./internal/modelserver/cmd

.PHONY: test
test: ## the whole suite, as in the README
	$(GO) test ./...

.PHONY: race
race: ## the suite under the race detector, without the slow fleet scenarios
	$(GO) test -race -short ./...

.PHONY: lint
lint: ## gofmt, vet and staticcheck
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo "gofmt would change these files"; exit 1; }
	$(GO) vet ./...
	$(GO) tool -modfile=tools/go.mod staticcheck ./...

.PHONY: fuzz
fuzz: ## every fuzz target for FUZZTIME inputs, or a time such as 10s (default 5000x)
	@.ci/fuzz $${FUZZTIME:-5000x}

.PHONY: eval
eval: ## score the built-in provider on the sample in the repository (ARGS="-provider openai -model M -gold FILE" for yours)
	$(GO) run ./internal/eval $(ARGS)

.PHONY: bench
bench: ## cutting and reading a chunk, then ratios against the named baselines
	$(GO) test -run '^$$' -bench 'Ground|Split$$' -benchtime 1s ./extraction
	cd bench && $(GO) run ./fleet && $(GO) run ./stack && $(GO) run ./admission

.PHONY: idle
idle: build ## processor time and memory of a worker that has nothing to do, over a minute (IDLE=10 for fewer seconds); fails above 1 % of a core or 40 MB
	@bench/idle.sh bin

.PHONY: chaos
chaos: ## kill, stop and starve a fleet of real processes and check its promises from outside, beside the literal design (ARGS="-short -run kills")
	$(GO) run ./internal/chaos $(or $(ARGS),-design both)

.PHONY: fleet
fleet: ## eight real processes share a limit for 30 s (FOR=2m for longer), then a circuit whose prober is killed
	WEIR_TEST_FLEET=$(or $(FOR),30s) $(GO) test -count=1 -v -run LedgerR18Fleet ./kvcache/natskv
	$(GO) test -count=1 -v ./internal/fleettest

.PHONY: scale
scale: ## what 1,000 workers and 100,000 tenants would ask of one NATS server
	cd bench && $(GO) run ./scale

.PHONY: reference
reference: ## write the reference of all flags into docs/reference
	$(GO) run ./cmd/worker man --markdown > docs/reference/worker.md
	$(GO) run ./cmd/publisher man --markdown > docs/reference/publisher.md

.PHONY: man
man: build ## write manual pages and shell completions into bin/
	@for program in worker publisher; do \
		bin/$$program man > bin/$$program.1; \
		for shell in bash zsh fish; do bin/$$program completion $$shell > bin/$$program.$$shell; done; \
	done

.PHONY: vuln
vuln: ## look for known weaknesses in the code and its modules (needs vuln.go.dev, or GOVULNDB)
	@curl -fsS -m 10 -o /dev/null "$${GOVULNDB:-https://vuln.go.dev}/index/db.json" 2>/dev/null || { echo "not checked: $${GOVULNDB:-https://vuln.go.dev} cannot be reached; docs/adr/dependencies.md lists every module"; exit 3; }
	$(GO) run golang.org/x/vuln/cmd/govulncheck@v1.9.0 $${GOVULNDB:+-db $$GOVULNDB} ./...

.PHONY: manifests
manifests: ## write deploy/manifests anew from the chart
	cd deploy/check && UPDATE=1 $(GO) test -count=1 -run TestManifests .

.PHONY: deploy-check
deploy-check: ## hold deploy/ against Helm, Kubernetes' types, Compose, promtool, systemd and itself, as far as they are here
	deploy/check/run

.PHONY: release-snapshot
release-snapshot: ## build the archive of a release for this machine into dist/
	deploy/release-snapshot

.PHONY: ci
ci: ## what CI runs
	bash .ci/run
