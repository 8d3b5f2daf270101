#!/usr/bin/env bash
# Ensures that promtool exists, with which the tests check alerts and the queries of dashboards, and prints its path. It
# uses the program named by PROMTOOL, or bin/tools/promtool, which it builds from the module pinned by
# hack/tools/promtool (a minute or two, once), so that every machine uses the same version.
set -euo pipefail
cd "$(dirname "$0")/.."

if [[ -n ${PROMTOOL:-} ]]; then
  if ! "$PROMTOOL" --version >/dev/null 2>&1; then
    echo "PROMTOOL is $PROMTOOL, which is not promtool" >&2
    exit 1
  fi
  echo "$PROMTOOL"
  exit 0
fi

module=hack/tools/promtool
promtool=$PWD/bin/tools/promtool
if [[ ! -x $promtool || $module/go.mod -nt $promtool || $module/go.sum -nt $promtool ]]; then
  # With the settings of the other programs, and without the clients of service discovery, which no test needs.
  CGO_ENABLED=0 hack/gobuild.sh -C "$module" -trimpath -tags remove_all_sd -o "$promtool" github.com/prometheus/prometheus/cmd/promtool >&2
  touch "$promtool"
fi
echo "$promtool"
