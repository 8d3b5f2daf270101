#!/usr/bin/env bash
# Sees to it that there is promtool, with which the tests check alerts and the queries of the dashboard, and prints its path.
# In this order: the program that PROMTOOL names; bin/tools/promtool, which is built from the module that hack/tools/promtool
# pins (a minute or two, once), so that every machine checks with the same version.
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
  # Without the many clients of service discovery, which no test needs.
  hack/gobuild.sh -C "$module" -tags remove_all_sd -o "$promtool" github.com/prometheus/prometheus/cmd/promtool >&2
  touch "$promtool"
fi
echo "$promtool"
