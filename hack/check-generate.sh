#!/usr/bin/env bash
# Fails if `make generate` changes a file, and shows the differences. It compares with the working tree, not with a
# commit, so that it can be used before committing.
set -euo pipefail
cd "$(dirname "$0")/.."

before=$(mktemp -d)
trap 'rm -rf "$before"' EXIT
generated=(README.md controllers/README.md platform/apidoc/openapi.json proto/gen api/v1alpha1 config/crd/bases config/grafana charts/plaza-operator/files)
for path in "${generated[@]}"; do
  mkdir -p "$before/$(dirname "$path")"
  if [[ -e $path ]]; then cp -R "$path" "$before/$path"; fi
done

make --no-print-directory generate-code

stale=0
for path in "${generated[@]}"; do
  diff -ruN "$before/$path" "$path" || stale=1
done
if ((stale)); then
  echo "generated files are out of date: run make generate and commit the changes" >&2
  exit 1
fi
echo "generated files are up to date"
