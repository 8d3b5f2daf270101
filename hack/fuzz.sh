#!/usr/bin/env bash
# Runs every fuzz target of the main module sequentially.
#   hack/fuzz.sh 10s
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:?the duration of each target is required, such as 10s}

ran=0
while IFS=: read -r file target; do
  echo "$target in ${file%/*}"
  go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" "./${file%/*}"
  ran=$((ran + 1))
done < <(grep -rHoE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]+' platform controllers | sed 's/func //')
echo "$ran fuzz targets, $time each"
