#!/usr/bin/env bash
# Generates the Go code of proto/ and the API document, or checks the protos with buf. The protos of google.api and buf.validate come from the
# module cache, so the tree contains no third-party code.
#
#   hack/generate.sh                           generate
#   BUF=path/to/buf hack/generate.sh lint      check style and format
#   BUF=path/to/buf hack/generate.sh breaking  check that the wire format is compatible with proto/baseline.binpb, the protos of the last release
#   BUF=path/to/buf hack/generate.sh baseline  write proto/baseline.binpb, after a release
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT

module_dir() { go mod download -json "$1" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p'; }
googleapis=$(module_dir github.com/grpc-ecosystem/grpc-gateway@v1.16.0)/third_party/googleapis
protovalidate=$(module_dir github.com/bufbuild/protovalidate@v1.2.0)/proto/protovalidate

# assemble lays out a workspace of three modules for buf: the protos of the project and those that they import.
assemble() {
  buf=${BUF:?set BUF to the buf binary}
  mkdir -p "$work/own/plaza" "$work/google/google/api" "$work/validate/buf/validate"
  cp "$googleapis"/google/api/{annotations,http}.proto "$work/google/google/api/"
  cp "$protovalidate"/buf/validate/*.proto "$work/validate/buf/validate/"
  cp -r proto/plaza/v1 "$work/own/plaza/v1"
  {
    sed -n '1p' proto/buf.yaml
    printf 'modules:\n  - path: own\n  - path: google\n  - path: validate\n'
    sed -n '/^lint:/,$s|- plaza/|- own/plaza/|; /^lint:/,$p' proto/buf.yaml
  } >"$work/buf.yaml"
  cd "$work"
}

generate() {
  local protos
  mapfile -t protos < <(cd proto && printf '%s\n' plaza/v1/*.proto)
  # A proto that does not compile leaves the generated code unchanged.
  go run ./hack/protogen -import proto -import "$googleapis" -import "$protovalidate" -out "$work/gen" -descriptors "$work/plaza.binpb" "${protos[@]}"
  rm -rf proto/gen
  mv "$work/gen" proto/gen
  go run ./hack/openapi -descriptors "$work/plaza.binpb" -by-hand platform/apidoc/byhand.yaml -out platform/apidoc/openapi.json
}

root=$PWD
case ${1:-} in
  lint) assemble && "$buf" lint own && "$buf" format own --exit-code --diff ;;
  breaking) assemble && "$buf" breaking own --against "$root/proto/baseline.binpb" ;;
  baseline) assemble && "$buf" build own --exclude-source-info -o "$root/proto/baseline.binpb" ;;
  "") generate ;;
  *)
    echo "unknown mode $1" >&2
    exit 2
    ;;
esac
