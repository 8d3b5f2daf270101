#!/usr/bin/env bash
# Ensures that a C compiler exists, which Go's race detector needs.
set -euo pipefail
cd "$(dirname "$0")/.."
source hack/apt.sh

compiles() {
  local cc
  read -r -a cc <<<"$(go env CC)"
  printf '#include <stdlib.h>\nint main(void) { return 0; }\n' | "${cc[@]}" -x c - -o /dev/null 2>/dev/null
}

if compiles; then exit 0; fi
if can_apt; then
  apt_install gcc libc6-dev
  compiles && exit 0
fi
echo "no C compiler found, which the race detector requires: install gcc or clang with the C library's headers (Debian: apt-get install gcc libc6-dev)" >&2
exit 1
