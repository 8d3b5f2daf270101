#!/usr/bin/env bash
# Ensures that a Prometheus exists, with which the tests evaluate alerts and panels on running servers, and prints its path. It uses
# the program named by PROMETHEUS, or one in the PATH, or the program of Debian's package, which it unpacks into bin/tools
# without installing it.
set -euo pipefail
cd "$(dirname "$0")/.."

works() { "$1" --version >/dev/null 2>&1; }

if [[ -n ${PROMETHEUS:-} ]]; then
  if ! works "$PROMETHEUS"; then
    echo "PROMETHEUS is $PROMETHEUS, which is not Prometheus" >&2
    exit 1
  fi
  echo "$PROMETHEUS"
  exit 0
fi

prometheus=$PWD/bin/tools/prometheus
if ! works "$prometheus"; then
  if found=$(command -v prometheus); then
    echo "$found"
    exit 0
  fi
  if ! command -v apt-get >/dev/null; then
    echo "no Prometheus found: set PROMETHEUS to the path of the program" >&2
    exit 1
  fi
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  (cd "$work" && (apt-get download -qq prometheus || { apt-get update -qq && apt-get download -qq prometheus; }) && dpkg -x prometheus_*.deb .) >&2
  mkdir -p bin/tools
  mv "$work/usr/bin/prometheus" "$prometheus"
fi
echo "$prometheus"
