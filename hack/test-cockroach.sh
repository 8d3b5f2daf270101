#!/usr/bin/env bash
# Runs the tests on CockroachDB: COCKROACH_NODES, by default one node without a region, or 3 for one node per region (see
# platform/devdb). The program is COCKROACH_BINARY, cockroach in PATH, or a download of COCKROACH_VERSION, by default the latest
# stable version. It ends with a table of its sections and the version.
#   hack/test-cockroach.sh all PACKAGES    the tests of the packages, also those of failures; the plans in bin/plans; the contention bench
#   hack/test-cockroach.sh check           what takes ten minutes: migrations, every statement and its plan, trays, 3 s of contention
#   hack/test-cockroach.sh available       fails if there is no CockroachDB
# TESTFLAGS are flags of go test.
set -euo pipefail
cd "$(dirname "$0")/.."
what=$1
shift

binary=${COCKROACH_BINARY:-$(command -v cockroach || true)}
if [[ -z $binary ]]; then
  echo "cockroach not found: downloading it" >&2
  if ! binary=$(go run ./hack/cockroach -dir bin/tools -version "${COCKROACH_VERSION:-}"); then
    echo "requires CockroachDB: set COCKROACH_BINARY to its path, put cockroach in PATH, or allow downloading it" >&2
    exit 1
  fi
fi
if ! version=$("$binary" version --build-tag 2>&1); then
  echo "cannot run $binary: $version" >&2
  exit 1
fi

if [[ $what == available ]]; then exit; fi

# These would take precedence over the program.
unset PLAZA_DATABASE_URL PLAZA_TEST_DATABASE_URL
export COCKROACH_BINARY=$binary COCKROACH_NODES=${COCKROACH_NODES:-1}
export PLAZA_TEST_PLANS=$PWD/bin/plans

rows=()
failed=0
# section NAME COMMAND runs a command, also if an earlier one failed.
section() {
  local name=$1 began=$SECONDS verdict=passed
  shift
  printf '\n=== %s, CockroachDB %s\n' "$name" "$version"
  if ! "$@"; then verdict=FAILED failed=1; fi
  rows+=("$(printf '%-12s %6d s  %s' "$name" $((SECONDS - began)) "$verdict")")
}

tests() { go run ./hack/testrun "$@"; }

case $what in
all)
  section tests tests -race "$*" -tags faults -args "-count=1 -timeout=2h ${TESTFLAGS:-}" "$@"
  section contention go run ./platform/bench -only contention
  ;;
check)
  section migrations tests -args "-count=1 -run ^TestMigrat" ./platform/store/db
  section statements tests -args "-count=1 -run ^TestPlans" ./platform/store
  section trays tests -args "-count=1 -run Tray" ./platform/store ./platform/conformance
  section contention go run ./platform/bench -only contention -seconds 3 -rounds 1
  ;;
*)
  echo "unknown argument $what: all, check or available" >&2
  exit 2
  ;;
esac

printf '\n=== CockroachDB %s, %d node(s)\n' "$version" "$COCKROACH_NODES"
printf '%s\n' "${rows[@]}"
if [[ -d $PLAZA_TEST_PLANS ]]; then echo "the plans of all statements are in bin/plans"; fi
exit $failed
