# `make` lists the targets. Only Go and make are required: tools are built from pinned modules in hack/, and the
# database is found or installed by hack/ensure-postgres.sh.

SHELL       := bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS   += --warn-undefined-variables --no-builtin-rules
.DELETE_ON_ERROR:
.SUFFIXES:
.DEFAULT_GOAL := help

# Arguments for the programs that `make run` and `make bench` start: make run ARGS="--ephemeral --demo"
ARGS ?=
# CLUSTERS=three starts three clusters in Docker instead of one, one for each region.
CLUSTERS ?=
# Duration of each fuzz target.
FUZZTIME ?= 10s
# Number of networks of the operator's benchmark, regions per network, and duration of the idle phase.
NETWORKS ?= 500
REGIONS  ?= 1
IDLE     ?= 10m
# The attacks of make hostile, by a part of their names.
ATTACKS ?=
# The commit that make bench-compare compares with, and the fault that make observe causes.
BASE  ?=
FAULT ?=
# Which tests: make test PKG=./platform/store/... TESTFLAGS="-run TestUsers -v"
PKG       ?= ./...
TESTFLAGS ?=
# The packages in which concurrency lives: make test runs them with the race detector, and make verify-race runs all.
RACE_PKG  ?= ./platform/events/... ./platform/jobs/... ./platform/groupcommit/... ./platform/fairqueue/... ./platform/ratelimit/... \
  ./platform/edge/realtime/... ./platform/directory/... ./platform/delivery/... ./platform/store/db/... ./platform/service/internal/... \
  ./platform/app/...
# The packages whose tests take longest start first.
FIRST_PKG := ./platform/conformance ./controllers/acceptance ./platform/store
# Only the checks whose code differs from this commit: make verify SINCE=<commit>
SINCE     ?=

VERSION  := $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
REVISION := $(shell git rev-parse --verify --quiet HEAD 2>/dev/null || echo unknown)

# Go fails to build if git does not work, as in a container with a repository owned by another user.
GOFLAGS ?=
ifeq ($(REVISION),unknown)
GOFLAGS += -buildvcs=false
endif

# The Google Cloud Storage client also supports gRPC with xDS, but Plaza uses JSON. Without those modules the program is
# a fifth smaller and an idle server needs 25 MiB less memory.
GOFLAGS += -tags=disable_grpc_modules
# Everything is compiled with the settings of the images, so that each package is compiled only once, or twice with the race detector.
GOFLAGS += -trimpath
CGO_ENABLED := 0
export GOFLAGS CGO_ENABLED

LDFLAGS := -X github.com/plaza-social/plaza/platform/telemetry.version=$(VERSION)

TOOLS          := $(CURDIR)/bin/tools
BUF            := $(TOOLS)/buf
GOLANGCI       := $(TOOLS)/golangci-lint
CONTROLLER_GEN := $(TOOLS)/controller-gen
GOVULNCHECK    := $(TOOLS)/govulncheck
GREMLINS       := $(TOOLS)/gremlins

IMAGE_NAME          ?= plaza
OPERATOR_IMAGE_NAME ?= plaza-operator
IMAGE_TAG           ?= $(VERSION)
IMAGE_ARCH          ?= $(shell go env GOARCH)
IMAGE_ARCHS         ?= amd64,arm64

# Separate modules, whose dependencies do not become those of the programs.
HACK_MODULES := hack/crdbcheck hack/image hack/cluster hack/kind hack/packaging

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
	@hack/gobuild.sh -ldflags '$(LDFLAGS)' -o bin/plaza ./platform/cmd/plaza

.PHONY: build-operator
build-operator: ## Build bin/plaza-operator.
	@hack/gobuild.sh -ldflags '$(LDFLAGS)' -o bin/plaza-operator ./controllers/cmd/plaza-operator

.PHONY: test
test: test-programs ## Run the tests that need no clock, browser, cluster or attacker, those of RACE_PKG with the race detector (PKG=./…, TESTFLAGS=…).
	@export KUBEBUILDER_ASSETS; KUBEBUILDER_ASSETS=$$(hack/ensure-envtest.sh); \
	go run ./hack/testrun -race "$(RACE_PKG)" -first "$(FIRST_PKG)" -modules "$(if $(filter ./...,$(PKG)),$(HACK_MODULES))" \
	  -args "$(TESTFLAGS)" $(PKG)

# The programs that the tests need, installed or built.
.PHONY: test-programs
test-programs:
	@hack/ensure-postgres.sh
	@hack/ensure-compiler.sh
	@hack/ensure-shellcheck.sh
	@hack/ensure-envtest.sh >/dev/null

.PHONY: conformance
conformance: ## Run the conformance suite and print its coverage of the contract.
	@hack/ensure-postgres.sh
	@mkdir -p bin && rm -f bin/conformance.txt; failed=0; \
	go test -count=1 -timeout 40m $(TESTFLAGS) ./platform/conformance -args -report=$(CURDIR)/bin/conformance.txt || failed=1; \
	cat bin/conformance.txt; exit $$failed

.PHONY: envtest
envtest: ## Download or build etcd and kube-apiserver for the operator's tests.
	@hack/ensure-envtest.sh >/dev/null

.PHONY: test-sdk
test-sdk: build ## Run the public client SDKs, unmodified, against plaza dev (ARGS="--namespace PostRepository …").
	@hack/ensure-postgres.sh
	@hack/sdktest/run.sh $(ARGS)

.PHONY: test-cockroach
test-cockroach: ## Run the tests on CockroachDB: one node without regions, or COCKROACH_NODES=3 (requires cockroach or a network).
	@hack/ensure-compiler.sh
	@TESTFLAGS="$(TESTFLAGS)" hack/test-cockroach.sh all $(if $(filter ./...,$(PKG)),./platform/...,$(PKG))

.PHONY: cockroach-check
cockroach-check: ## Run what takes ten minutes on CockroachDB: migrations, every statement and its plan, trays, contention.
	@hack/test-cockroach.sh check

.PHONY: bench
bench: bench-platform bench-operator ## Benchmark the platform, with feeds on a million posts, and the operator with 500 networks.

.PHONY: bench-platform
bench-platform: ## Run the platform's benchmark (ARGS=…).
	@hack/ensure-postgres.sh
	@go run ./platform/bench $(ARGS)

.PHONY: bench-compare
bench-compare: ## Compare the platform with that of another commit (BASE=<commit>).
	@hack/ensure-postgres.sh
	@hack/bench-compare.sh "$(BASE)" $(ARGS)

.PHONY: bench-operator
bench-operator: ## Run the operator's benchmark (NETWORKS=500, REGIONS=1, IDLE=10m).
	@export KUBEBUILDER_ASSETS; KUBEBUILDER_ASSETS=$$(hack/ensure-envtest.sh); \
	go test -tags bench,disable_grpc_modules -count=1 -timeout 0 -v ./controllers/bench -args -networks $(NETWORKS) -regions $(REGIONS) -idle $(IDLE)

.PHONY: fuzz
fuzz: ## Run every fuzz target for FUZZTIME.
	@hack/fuzz.sh $(FUZZTIME)

.PHONY: mutation
mutation: ## Print one-line changes of packages that their own tests do not notice (PKG="platform/auth …"; default: the packages of rules).
	@hack/mutation.sh $(PKG)

.PHONY: hostile
hostile: ## Attack networks on the loopback interface, and compare the costs with and without defences (ATTACKS=…).
	@hack/ensure-postgres.sh
	@go test -count=1 -timeout 60m -v -tags disable_grpc_modules,attacks -run 'TestAttacks/$(ATTACKS)' ./platform/hostile

.PHONY: observe
observe: ## Show the dashboards of a network under load on this machine (FAULT=region-down|database-down|… makes an alert fire).
	@hack/ensure-postgres.sh
	@hack/ensure-prometheus.sh >/dev/null
	@go test -count=1 -timeout 0 -v -tags disable_grpc_modules,observe -run TestObserve ./controllers/monitoring/live $(if $(FAULT),-fault $(FAULT)) $(ARGS)

##@ Quality

.PHONY: lint
lint: ## Check the style of the Go and proto files that changed since the commit in hack/linted, and the vocabulary.
	@hack/lint.sh changed

.PHONY: fmt
fmt: $(GOLANGCI) $(BUF) ## Format Go and proto files.
	$(GOLANGCI) fmt ./...
	@for module in $(HACK_MODULES); do (cd "$$module" && $(GOLANGCI) fmt --config $(CURDIR)/.golangci.yml ./...); done
	$(BUF) format --write proto

.PHONY: crdbcheck
crdbcheck: ## Check every SQL statement and migration against CockroachDB's grammar and the rules of hack/crdbcheck.
	@go -C hack/crdbcheck test -count=1 -run TestTheProgramKeepsTheRules .

# Each check can be run alone: make verify-faults
VERIFY := lint recipe race faults alerts ui hostile install sdk cluster clusters cockroach
.PHONY: verify $(VERIFY:%=verify-%) vulncheck verify-parts
verify: ## Run every check that CI does not run, or those whose code differs from a commit (SINCE=<commit>).
	@hack/verify.sh $(if $(SINCE),--since $(SINCE))

$(VERIFY:%=verify-%): verify-%:
	@hack/verify.sh $*

vulncheck: ## Look for known vulnerabilities in the code that is called; needs vuln.go.dev, or GOVULNDB.
	@hack/verify.sh vulncheck

verify-parts: ## Print the names of those checks.
	@hack/verify.sh --list

.PHONY: generate
generate: generate-code ## Generate code from proto/ and api/, the CRD and the chart's copies, and update hack/crdbcheck to the main module's versions.
	@go -C hack/crdbcheck get ./...

# What needs no network.
.PHONY: generate-code
generate-code: $(CONTROLLER_GEN)
	hack/generate.sh
	$(CONTROLLER_GEN) object paths=./api/... crd output:crd:artifacts:config=config/crd/bases
	@go run ./hack/operatorfiles
	@hack/chart-files.sh

.PHONY: check-generate
check-generate: $(CONTROLLER_GEN) ## Fail if make generate changes a file.
	@hack/check-generate.sh

.PHONY: baseline
baseline: $(BUF) ## Write proto/baseline.binpb, with which the protos must stay compatible, after a release.
	BUF=$(BUF) hack/generate.sh baseline

##@ Cluster

.PHONY: kind-up
kind-up: ## Start a Kubernetes cluster with a node in each region and CockroachDB in Docker, on Linux or macOS (CLUSTERS=three).
	@hack/kind/kind.sh up$(if $(filter three,$(CLUSTERS)),-three)

.PHONY: kind-down
kind-down: ## Remove that cluster, or those clusters.
	@hack/kind/kind.sh down

.PHONY: test-kind
test-kind: ## Run the operator's tests on that cluster, or on one started for it (CLUSTERS=three, TESTFLAGS=…).
	@CLUSTERS=$(CLUSTERS) hack/kind/test.sh -tags cluster -run '^Test$(if $(filter three,$(CLUSTERS)),ThreeClusters,Network)$$' \
	  $(TESTFLAGS) ./controllers/clustertest/...

.PHONY: cluster-up
cluster-up: ## Start a three-node Kubernetes cluster on this machine, without Docker (Linux, root).
	@go -C hack/cluster run . up

.PHONY: cluster-down
cluster-down: ## Stop that cluster and remove its data.
	@go -C hack/cluster run . down

.PHONY: test-clusters
test-clusters: ## Run the operator's test with a cluster for each region on clusters that are started for it (Linux, root).
	@CLUSTERS=three hack/cluster/test.sh -tags cluster -run TestThreeClusters $(TESTFLAGS) ./controllers/clustertest/...

.PHONY: test-cluster
test-cluster: ## Run the operator's tests on the cluster of KUBECONFIG, or on one started for it (Linux, root).
	@hack/cluster/test.sh -tags cluster $(TESTFLAGS) ./controllers/clustertest/...

##@ Release

.PHONY: image
image: ## Write bin/plaza-image.tar and bin/plaza-operator-image.tar, without a container daemon, and their bills of materials.
	@hack/image.sh plaza ./platform/cmd/plaza $(IMAGE_NAME):$(IMAGE_TAG)
	@hack/image.sh plaza-operator ./controllers/cmd/plaza-operator $(OPERATOR_IMAGE_NAME):$(IMAGE_TAG)

.PHONY: image-index
image-index: ## Write bin/plaza-index.tar and bin/plaza-operator-index.tar: images for IMAGE_ARCHS=amd64,arm64 in one index.
	@hack/image.sh plaza ./platform/cmd/plaza $(IMAGE_NAME):$(IMAGE_TAG)
	@hack/image.sh plaza-operator ./controllers/cmd/plaza-operator $(OPERATOR_IMAGE_NAME):$(IMAGE_TAG)

image: export IMAGE_ARCH := $(IMAGE_ARCH)
image-index: export IMAGE_ARCHS := $(IMAGE_ARCHS)
image image-index: export LDFLAGS := $(LDFLAGS)
image image-index: export VERSION := $(VERSION)
image image-index: export REVISION := $(REVISION)

PACKAGED_IMAGES = -operator-image $(OPERATOR_IMAGE_NAME):$(IMAGE_TAG) -platform-image $(IMAGE_NAME):$(IMAGE_TAG)

.PHONY: install.yaml
install.yaml: ## Write bin/install.yaml: the operator, its CRD and its permissions, with this version's images.
	@go -C hack/packaging run . manifest -root $(CURDIR) -out $(CURDIR)/bin/install.yaml $(PACKAGED_IMAGES)

.PHONY: helm-package
helm-package: ## Write bin/plaza-operator-<version>.tgz: the chart, with this version's images.
	@go -C hack/packaging run . chart -root $(CURDIR) -version $(VERSION) -out $(CURDIR)/bin $(PACKAGED_IMAGES)

.PHONY: clean
clean: ## Remove everything that make built.
	rm -rf bin

# Tools, in the versions pinned by their modules.
$(BUF): hack/tools/buf/go.mod hack/tools/buf/go.sum
	@hack/gobuild.sh -C hack/tools/buf -o $@ github.com/bufbuild/buf/cmd/buf

$(CONTROLLER_GEN): hack/tools/controller-gen/go.mod hack/tools/controller-gen/go.sum
	@hack/gobuild.sh -C hack/tools/controller-gen -o $@ sigs.k8s.io/controller-tools/cmd/controller-gen

$(GOVULNCHECK): hack/tools/govulncheck/go.mod hack/tools/govulncheck/go.sum
	@hack/gobuild.sh -C hack/tools/govulncheck -o $@ golang.org/x/vuln/cmd/govulncheck

$(GREMLINS): hack/tools/gremlins/go.mod hack/tools/gremlins/go.sum
	@hack/gobuild.sh -C hack/tools/gremlins -o $@ github.com/go-gremlins/gremlins/cmd/gremlins

$(GOLANGCI): hack/tools/golangci/go.mod hack/tools/golangci/go.sum
	@hack/gobuild.sh -C hack/tools/golangci -o $@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint
