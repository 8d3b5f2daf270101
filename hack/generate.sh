#!/usr/bin/env bash
# Generates the Go code of proto/, and the API document, with the pinned buf and plugins. The protos of google.api and buf.validate come from
# the module cache: nothing third-party is copied into the tree.
#   BUF=path/to/buf hack/generate.sh [lint]
set -euo pipefail
cd "$(dirname "$0")/.."
buf=${BUF:?set BUF to the buf binary}
module() { go mod download -json "$1" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p'; }
googleapis=$(module github.com/grpc-ecosystem/grpc-gateway@v1.16.0)/third_party/googleapis
protovalidate=$(module github.com/bufbuild/protovalidate@v1.2.0)/proto/protovalidate

work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
mkdir -p "$work/google/google/api" "$work/validate/buf/validate"
cp "$googleapis"/google/api/{annotations,http}.proto "$work/google/google/api/"
cp "$protovalidate"/buf/validate/*.proto "$work/validate/buf/validate/"
mkdir -p "$work/own/plaza" && cp -r proto/plaza/v1 "$work/own/plaza/v1"
{
  sed -n '1p' proto/buf.yaml
  printf 'modules:\n  - path: own\n  - path: google\n  - path: validate\n'
  sed -n '/^lint:/,$p' proto/buf.yaml
} >"$work/buf.yaml"

if [[ ${1:-} == lint ]]; then
  (cd "$work" && "$buf" lint own && "$buf" format own --exit-code --diff)
  exit 0
fi
# Beside it first: a proto that does not compile leaves the code as it is.
"$buf" generate "$work" --template proto/buf.gen.yaml --path "$work/own/plaza" --output "$work"
rm -rf proto/gen
mv "$work/gen" proto/gen
"$buf" build "$work" --path "$work/own/plaza" --as-file-descriptor-set -o "$work/plaza.binpb"
go run ./hack/openapi -descriptors "$work/plaza.binpb" -by-hand platform/apidoc/byhand.yaml -out platform/apidoc/openapi.json
