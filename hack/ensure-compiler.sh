#!/usr/bin/env bash
# Sees to it that there is a C compiler: Go's race detector needs one.
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
echo "no C compiler, which the race detector needs: install gcc or clang with the C library's headers (Debian: apt-get install gcc libc6-dev)" >&2
exit 1
