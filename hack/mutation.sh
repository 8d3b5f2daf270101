#!/usr/bin/env bash
# Changes single conditions and operators of packages, one at a time, and prints the changes that the packages' own tests do not notice.
#   hack/mutation.sh [packages]     default: the packages of rules, which takes hours
set -euo pipefail
cd "$(dirname "$0")/.."

rules=(
  platform/auth platform/page platform/ratelimit platform/service/internal/chat platform/service/internal/flags
  platform/service/internal/visibility platform/service/internal/fileaccess
  controllers/keyring controllers/keys controllers/rollout controllers/stage controllers/sweep
)
if (($# == 0)); then set -- "${rules[@]}"; fi

make --no-print-directory "$PWD/bin/tools/gremlins"
gremlins=$PWD/bin/tools/gremlins

# The tool copies the folder of the module for each of its workers: it gets one without what make built.
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git ls-files -z --cached --others --exclude-standard | tar --null --ignore-failed-read -T - -cf - | tar -xf - -C "$copy"
mkdir -p "$copy/bin"
for made in envtest postgres; do
  if [[ -d bin/$made ]]; then ln -s "$PWD/bin/$made" "$copy/bin/$made"; fi
done
cd "$copy"

# The tool would pass its own --test-cpu in a form that makes every test run fail, so that no change would seem to pass.
export GOFLAGS="${GOFLAGS:-} -cpu=1 -vet=off"

# A test run of a mutant is given up after several times the time of all tests, because some mutants never end.
for package in "$@"; do
  package=${package#./}
  echo "=== $package"
  "$gremlins" unleash "./${package%/}" --tags disable_grpc_modules --workers 2 --timeout-coefficient 8 \
    --invert-logical --invert-loopctrl --output-statuses lct
done
