#!/usr/bin/env bash
# Runs the checks that are not part of CI because they need a clock, a browser, a cluster, the network, an attacker or much
# time, and ends with a table of what passed, what failed, and what was not run and why.
#   hack/verify.sh [--since COMMIT] [PARTS]
# Without parts it runs all of them; with --since, those whose code differs from the commit. `hack/verify.sh --list` prints
# their names. A part that this machine does not support says why and is not run; that is no failure.
set -uo pipefail
cd "$(dirname "$0")/.."

all=(lint recipe race faults alerts ui hostile install sdk cluster clusters cockroach vulncheck)
logs=bin/verify

# paths PART prints the files that a part is about.
paths() {
  case $1 in
  lint) echo . ;;
  recipe) echo platform proto hack/recipe hack/openapi hack/protogen go.mod ;;
  race | vulncheck) echo '*.go' go.mod go.sum ;;
  faults | hostile | cockroach) echo platform proto go.mod ;;
  alerts) echo platform api controllers hack/ensure-prometheus.sh hack/tools/promtool ;;
  ui) echo platform/apidoc platform/edge controllers/monitoring proto ;;
  install) echo api controllers config charts hack/packaging go.mod ;;
  sdk) echo platform proto hack/sdktest ;;
  cluster | clusters) echo api controllers platform config charts hack/cluster hack/image hack/packaging go.mod ;;
  esac
}

# unsupported REASON ends a part that cannot run here.
unsupported() {
  echo "not run: $*"
  exit 3
}

tests() { go run ./hack/testrun "$@"; }

run() {
  set -e
  case $1 in
  lint) hack/lint.sh all ;;
  recipe)
    hack/ensure-postgres.sh
    tests -tags recipe ./hack/recipe
    ;;
  # The conformance tests take half an hour with the race detector on two cores, and longer on a busy machine.
  race) make --no-print-directory test RACE_PKG=./... TESTFLAGS="-timeout=2h ${TESTFLAGS:-}" ;;
  faults)
    hack/ensure-postgres.sh
    hack/ensure-compiler.sh
    tests -tags faults -race ./platform/faults/... ./platform/faults/...
    ;;
  alerts)
    hack/ensure-postgres.sh
    PROMETHEUS=$(hack/ensure-prometheus.sh) PROMTOOL=$(hack/ensure-promtool.sh) KUBEBUILDER_ASSETS=$(hack/ensure-envtest.sh)
    export PROMETHEUS PROMTOOL KUBEBUILDER_ASSETS
    tests -tags alerts ./controllers/monitoring/...
    tests -tags alerts -args "-run TestOperatorAlerts" ./controllers/acceptance
    ;;
  ui)
    hack/ensure-postgres.sh
    hack/ensure-chromium.sh
    PROMETHEUS=$(hack/ensure-prometheus.sh)
    export PROMETHEUS
    tests -tags ui ./platform/apidoc ./controllers/monitoring/live
    ;;
  hostile)
    hack/ensure-postgres.sh
    make --no-print-directory hostile
    ;;
  install)
    hack/ensure-compiler.sh
    KUBEBUILDER_ASSETS=$(hack/ensure-envtest.sh)
    export KUBEBUILDER_ASSETS
    tests -tags install -race ./controllers/install/... ./controllers/install/...
    ;;
  sdk)
    command -v npm >/dev/null || unsupported "there is no npm"
    npm ping >/dev/null 2>&1 || unsupported "the npm registry cannot be reached"
    make --no-print-directory test-sdk
    ;;
  cluster) hack/cluster/test.sh -tags cluster ./controllers/clustertest/... ;;
  clusters) CLUSTERS=three hack/cluster/test.sh -tags cluster -run TestThreeClusters ./controllers/clustertest/... ;;
  cockroach)
    hack/test-cockroach.sh available || unsupported "there is no cockroach program, and none can be downloaded"
    make --no-print-directory cockroach-check
    ;;
  vulncheck)
    hack/vulncheck.sh --reachable || unsupported "the database of vulnerabilities cannot be reached"
    make --no-print-directory "$PWD/bin/tools/govulncheck"
    hack/vulncheck.sh "$PWD/bin/tools/govulncheck"
    ;;
  *)
    echo "unknown part $1: ${all[*]}" >&2
    exit 2
    ;;
  esac
}

since=
parts=()
while (($#)); do
  case $1 in
  --list)
    echo "${all[*]}"
    exit
    ;;
  --since)
    since=${2:?--since needs a commit}
    git rev-parse --verify --quiet "$since^{commit}" >/dev/null || { echo "no commit $since" >&2; exit 2; }
    shift
    ;;
  *) parts+=("$1") ;;
  esac
  shift
done
if ((${#parts[@]} == 0)); then parts=("${all[@]}"); fi

mkdir -p "$logs"
rows=()
failed=0
for part in "${parts[@]}"; do
  log=$logs/$part.log
  # shellcheck disable=SC2046 # paths prints words
  if [[ -n $since ]] && git diff --quiet "$since" -- $(paths "$part"); then
    rows+=("$(printf '%-10s %7s  not run  its code does not differ from %s' "$part" - "$since")")
    continue
  fi
  began=$SECONDS
  printf '\n=== verify %s\n' "$part"
  (run "$part") 2>&1 | tee "$log"
  case ${PIPESTATUS[0]} in
  0) verdict=passed reason= ;;
  3) verdict="not run" reason=$(tail -n 1 "$log" | sed 's/^not run: //') ;;
  *) verdict=FAILED reason="see $log" failed=1 ;;
  esac
  rows+=("$(printf '%-10s %5d s  %-7s  %s' "$part" $((SECONDS - began)) "$verdict" "$reason")")
done
printf '\n=== verify\n'
printf '%s\n' "${rows[@]}"
exit $failed
