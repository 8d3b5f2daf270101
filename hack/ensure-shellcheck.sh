#!/usr/bin/env bash
# Ensures that shellcheck exists, with which the tests check scripts. On Debian, as root, it installs it; elsewhere it prints
# instructions.
set -euo pipefail
cd "$(dirname "$0")/.."
source hack/apt.sh

if command -v shellcheck >/dev/null; then exit 0; fi
if can_apt; then
  apt_install shellcheck
  exit 0
fi
echo "no shellcheck found: install it (Debian: apt-get install shellcheck; macOS: brew install shellcheck)" >&2
exit 1
