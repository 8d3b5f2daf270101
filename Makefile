# `make` lists the targets. Nothing but Go and make has to be there beforehand: tools are built from pinned modules in
# hack/, and the database is found or installed by hack/ensure-postgres.sh.

SHELL       := bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS   += --warn-undefined-variables --no-builtin-rules
.DELETE_ON_ERROR:
.SUFFIXES:
.DEFAULT_GOAL := help

# Arguments for the programs that `make run` and `make bench` start: make run ARGS="--ephemeral --demo"
ARGS ?=
# How long each fuzz target runs.
FUZZTIME ?= 10s
# How many networks the operator is measured with, of how many regions each, and for how long nothing happens.
NETWORKS ?= 500
REGIONS  ?= 1
IDLE     ?= 10m
# Which tests: make test PKG=./platform/store/... TESTFLAGS="-run TestUsers -v"
PKG       ?= ./...
TESTFLAGS ?=

VERSION  := $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
REVISION := $(shell git rev-parse --verify --quiet HEAD 2>/dev/null || echo unknown)

# Go refuses to build where git does not answer, as in a container that mounts somebody else's folder.
GOFLAGS ?=
ifeq ($(REVISION),unknown)
GOFLAGS += -buildvcs=false
endif

# The client of Google Cloud Storage can also speak gRPC, routed by xDS. Plaza speaks JSON to it; without those modules the
# program is a fifth smaller, and an idle server has 25 MiB less resident.
GOFLAGS += -tags=disable_grpc_modules
export GOFLAGS

LDFLAGS := -X github.com/plaza-social/plaza/platform/telemetry.version=$(VERSION)

TOOLS          := $(CURDIR)/bin/tools
BUF            := $(TOOLS)/buf
GOLANGCI       := $(TOOLS)/golangci-lint
CONTROLLER_GEN := $(TOOLS)/controller-gen

IMAGE_NAME          ?= plaza
OPERATOR_IMAGE_NAME ?= plaza-operator
IMAGE_TAG           ?= $(VERSION)
IMAGE_ARCH          ?= $(shell go env GOARCH)

# Modules of their own, so that what they need stays out of the programs.
HACK_MODULES := hack/crdbcheck hack/image hack/cluster hack/packaging

##@ Everyday

.PHONY: help
help: ## List the targets.
	@awk 'BEGIN { FS = ":.*## " } \
	  /^##@ / { printf "\n%s\n", substr($$0, 5) } \
	  /^[a-z][a-z.-]*:.*## / { printf "  %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run
run: build ## Start the platform in three regions on a local database (ARGS="--demo --ephemeral …").
	@hack/ensure-postgres.sh
	@exec bin/plaza dev $(ARGS)

.PHONY: build
build: ## Build bin/plaza.
	@hack/gobuild.sh -trimpath -ldflags '$(LDFLAGS)' -o bin/plaza ./platform/cmd/plaza

.PHONY: build-operator
build-operator: ## Build bin/plaza-operator.
	@hack/gobuild.sh -trimpath -ldflags '$(LDFLAGS)' -o bin/plaza-operator ./controllers/cmd/plaza-operator

.PHONY: test
test: ## Run every test that needs no cluster, with the race detector (PKG=./…, TESTFLAGS=…).
	@hack/ensure-postgres.sh
	@hack/ensure-compiler.sh
	@hack/ensure-promtool.sh >/dev/null
	@hack/ensure-chromium.sh
	@export KUBEBUILDER_ASSETS; KUBEBUILDER_ASSETS=$$(hack/ensure-envtest.sh); \
	failed=0; \
	echo 'go test -race -timeout 15m $(TESTFLAGS) $(PKG)'; \
	go test -race -timeout 15m $(TESTFLAGS) $(PKG) || failed=1; \
	for module in $(HACK_MODULES); do \
	  echo "go -C $$module test ./..."; \
	  go -C "$$module" test ./... || failed=1; \
	done; \
	exit $$failed

.PHONY: conformance
conformance: ## Run the conformance suite, and say how much of the contract it exercised on the running program.
	@hack/ensure-postgres.sh
	@mkdir -p bin && rm -f bin/conformance.txt; failed=0; \
	go test -count=1 -timeout 15m $(TESTFLAGS) ./platform/conformance -args -report=$(CURDIR)/bin/conformance.txt || failed=1; \
	cat bin/conformance.txt; exit $$failed

.PHONY: envtest
envtest: ## Have etcd and kube-apiserver for the operator's tests (downloaded, or built from modules), in bin/envtest.
	@hack/ensure-envtest.sh >/dev/null

.PHONY: test-cockroach
test-cockroach: ## Run the same tests on CockroachDB with three localities (needs a cockroach program, or network).
	@hack/ensure-compiler.sh
	@hack/ensure-chromium.sh
	@hack/test-cockroach.sh -race -timeout 30m $(TESTFLAGS) $(PKG)

.PHONY: bench
bench: bench-platform bench-operator ## Measure the platform beside bare handlers, feeds at scale, and the operator with 500 idle networks.

.PHONY: bench-platform
bench-platform: ## The platform's part of make bench (ARGS=…).
	@hack/ensure-postgres.sh
	@go run ./platform/bench $(ARGS)

.PHONY: bench-operator
bench-operator: ## The operator's part of make bench (NETWORKS=500, REGIONS=1, IDLE=10m).
	@export KUBEBUILDER_ASSETS; KUBEBUILDER_ASSETS=$$(hack/ensure-envtest.sh); \
	go run ./controllers/bench -networks $(NETWORKS) -regions $(REGIONS) -idle $(IDLE)

.PHONY: fuzz
fuzz: ## Run every fuzz target for FUZZTIME.
	@hack/fuzz.sh $(FUZZTIME)

##@ Quality

.PHONY: lint
lint: $(GOLANGCI) $(BUF) ## Check the style of Go and proto files, and the compatibility of the protos.
	$(GOLANGCI) run ./...
	@for module in $(HACK_MODULES); do echo "golangci-lint in $$module"; \
	  (cd "$$module" && $(GOLANGCI) run --config $(CURDIR)/.golangci.yml ./...); done
	BUF=$(BUF) hack/generate.sh lint
	BUF=$(BUF) hack/generate.sh breaking

.PHONY: fmt
fmt: $(GOLANGCI) $(BUF) ## Format Go and proto files.
	$(GOLANGCI) fmt ./...
	@for module in $(HACK_MODULES); do (cd "$$module" && $(GOLANGCI) fmt --config $(CURDIR)/.golangci.yml ./...); done
	$(BUF) format --write proto

.PHONY: crdbcheck
crdbcheck: ## Hold every SQL statement and migration against CockroachDB's grammar and our rules.
	@go -C hack/crdbcheck run .

.PHONY: generate
generate: $(BUF) $(CONTROLLER_GEN) ## Generate the code of proto/ and api/, the CRD and the chart's copies, and bring hack/crdbcheck to the versions of the main module.
	BUF=$(BUF) hack/generate.sh
	$(CONTROLLER_GEN) object paths=./api/... crd output:crd:artifacts:config=config/crd/bases
	@hack/chart-files.sh
	@go -C hack/crdbcheck get ./...
	@go run ./controllers/readme

.PHONY: check-generate
check-generate: $(BUF) $(CONTROLLER_GEN) ## Fail where make generate changes a file.
	@MAKE='$(MAKE)' hack/check-generate.sh

##@ Cluster

.PHONY: cluster-up
cluster-up: ## Start a real three-node Kubernetes cluster on this machine, without Docker (Linux, root).
	@go -C hack/cluster run . up

.PHONY: cluster-down
cluster-down: ## End that cluster and remove its folder.
	@go -C hack/cluster run . down

.PHONY: test-cluster
test-cluster: ## Run the operator's tests on a real cluster: KUBECONFIG's, or one that is started for it (Linux, root).
	@hack/cluster/test.sh -tags cluster $(TESTFLAGS) ./controllers/clustertest/...

##@ Release

.PHONY: image
image: ## Write bin/plaza-image.tar and bin/plaza-operator-image.tar: static, non-root, of one layer, without a daemon.
	@hack/image.sh plaza ./platform/cmd/plaza $(IMAGE_NAME):$(IMAGE_TAG)
	@hack/image.sh plaza-operator ./controllers/cmd/plaza-operator $(OPERATOR_IMAGE_NAME):$(IMAGE_TAG)

image: export IMAGE_ARCH := $(IMAGE_ARCH)
image: export LDFLAGS := $(LDFLAGS)
image: export VERSION := $(VERSION)
image: export REVISION := $(REVISION)

PACKAGED_IMAGES = -operator-image $(OPERATOR_IMAGE_NAME):$(IMAGE_TAG) -platform-image $(IMAGE_NAME):$(IMAGE_TAG)

.PHONY: install.yaml
install.yaml: ## Write bin/install.yaml: the operator, its CRD and its rights in one file, with the images of the version.
	@go -C hack/packaging run . manifest -root $(CURDIR) -out $(CURDIR)/bin/install.yaml $(PACKAGED_IMAGES)

.PHONY: helm-package
helm-package: ## Write bin/plaza-operator-<version>.tgz: the chart, with the images of the version.
	@go -C hack/packaging run . chart -root $(CURDIR) -version $(VERSION) -out $(CURDIR)/bin $(PACKAGED_IMAGES)

.PHONY: clean
clean: ## Remove what make built.
	rm -rf bin

# The tools, from the versions that their modules pin.
$(BUF): hack/tools/buf/go.mod hack/tools/buf/go.sum
	@hack/gobuild.sh -C hack/tools/buf -o $@ github.com/bufbuild/buf/cmd/buf

$(CONTROLLER_GEN): hack/tools/controller-gen/go.mod hack/tools/controller-gen/go.sum
	@hack/gobuild.sh -C hack/tools/controller-gen -o $@ sigs.k8s.io/controller-tools/cmd/controller-gen

$(GOLANGCI): hack/tools/golangci/go.mod hack/tools/golangci/go.sum
	@hack/gobuild.sh -C hack/tools/golangci -o $@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint
