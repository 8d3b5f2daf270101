#!/usr/bin/env bash
# Runs the tests on CockroachDB: COCKROACH_NODES, by default one node without a region, or 3 for one node per region
# (see platform/devdb). The program is COCKROACH_BINARY,
# cockroach in PATH, or a download of COCKROACH_VERSION, by default the latest stable version.
#   hack/test-cockroach.sh [flags of go test] packages
set -euo pipefail
cd "$(dirname "$0")/.."

binary=${COCKROACH_BINARY:-$(command -v cockroach || true)}
if [[ -z $binary ]]; then
  echo "cockroach not found: downloading it" >&2
  if ! binary=$(go run ./hack/cockroach -dir bin/tools -version "${COCKROACH_VERSION:-}"); then
    echo "make test-cockroach requires CockroachDB: set COCKROACH_BINARY to its path, put cockroach in PATH, or allow downloading it" >&2
    exit 1
  fi
fi
if ! version=$("$binary" version --build-tag 2>&1); then
  echo "cannot run $binary: $version" >&2
  exit 1
fi
echo "CockroachDB $version at $binary"

# These would take precedence over the program.
unset PLAZA_DATABASE_URL PLAZA_TEST_DATABASE_URL
export COCKROACH_BINARY=$binary COCKROACH_NODES=${COCKROACH_NODES:-1}
exec go test "$@"
