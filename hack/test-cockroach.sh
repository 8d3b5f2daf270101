#!/usr/bin/env bash
# Runs the tests on CockroachDB: three nodes, one in each region, through cockroach-go's testserver (platform/devdb). The
# program is COCKROACH_BINARY, or cockroach in PATH, or a download: of COCKROACH_VERSION, or of the latest stable version.
#   hack/test-cockroach.sh [flags of go test] packages
set -euo pipefail
cd "$(dirname "$0")/.."

binary=${COCKROACH_BINARY:-$(command -v cockroach || true)}
if [[ -z $binary ]]; then
  echo "no cockroach program here: downloading one" >&2
  if ! binary=$(go run ./hack/cockroach -dir bin/tools -version "${COCKROACH_VERSION:-}"); then
    echo "make test-cockroach needs CockroachDB: set COCKROACH_BINARY to the program, or have cockroach in PATH, or a network to download it from" >&2
    exit 1
  fi
fi
if ! version=$("$binary" version --build-tag 2>&1); then
  echo "$binary is no cockroach program that runs here: $version" >&2
  exit 1
fi
echo "CockroachDB $version at $binary"

# Either of these would win over the program.
unset PLAZA_DATABASE_URL PLAZA_TEST_DATABASE_URL
export COCKROACH_BINARY=$binary
exec go test "$@"
