#!/usr/bin/env bash
# Generates the Go code of proto/ and the API document with the pinned buf and plugins, or checks the protos. The protos of google.api and
# buf.validate come from the module cache, so the tree contains no third-party code.
#
#   BUF=path/to/buf hack/generate.sh            generate
#   BUF=path/to/buf hack/generate.sh lint       check style and format
#   BUF=path/to/buf hack/generate.sh breaking   check that the wire format is compatible with the baseline
#
# The baseline is the last release tag before HEAD. Without a tag it is the commit at which HEAD left main, or, on main itself, the parent of
# HEAD. BASELINE overrides it. A baseline whose proto/buf.yaml has no rules for breaking changes promises nothing and is not compared with.
set -euo pipefail
cd "$(dirname "$0")/.."
buf=${BUF:?set BUF to the buf binary}
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT

module_dir() { go mod download -json "$1" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p'; }
googleapis=$(module_dir github.com/grpc-ecosystem/grpc-gateway@v1.16.0)/third_party/googleapis
protovalidate=$(module_dir github.com/bufbuild/protovalidate@v1.2.0)/proto/protovalidate

# assemble DIR PROTO lays out DIR as a workspace of three modules: the protos of the directory PROTO and those they import.
assemble() {
  local dir=$1 proto=$2
  mkdir -p "$dir/own/plaza" "$dir/google/google/api" "$dir/validate/buf/validate"
  cp "$googleapis"/google/api/{annotations,http}.proto "$dir/google/google/api/"
  cp "$protovalidate"/buf/validate/*.proto "$dir/validate/buf/validate/"
  cp -r "$proto/plaza/v1" "$dir/own/plaza/v1"
  {
    sed -n '1p' "$proto/buf.yaml"
    printf 'modules:\n  - path: own\n  - path: google\n  - path: validate\n'
    sed -n '/^lint:/,$s|- plaza/|- own/plaza/|; /^lint:/,$p' "$proto/buf.yaml"
  } >"$dir/buf.yaml"
}

baseline() {
  local main fork
  git describe --tags --abbrev=0 HEAD^ 2>/dev/null && return
  for main in origin/main main; do
    fork=$(git merge-base HEAD "$main" 2>/dev/null) || continue
    if [[ $fork != "$(git rev-parse HEAD)" ]]; then
      echo "$fork"
      return
    fi
  done
  git rev-parse --verify --quiet HEAD^ && return
  if [[ $(git rev-parse --is-shallow-repository) == true ]]; then
    echo "the clone is shallow and has no commit to compare with: fetch more history" >&2
    return 1
  fi
}

check_breaking() {
  local against
  against=${BASELINE:-$(baseline)}
  if [[ -z $against ]] || ! git show "$against:proto/buf.yaml" | grep -q '^breaking:'; then
    echo "no earlier version of the protos to be compatible with"
    return
  fi
  mkdir "$work/baseline"
  git archive "$against" proto | tar -x -C "$work/baseline"
  assemble "$work/old" "$work/baseline/proto"
  echo "comparing the protos with $(git describe --tags --always "$against")"
  (cd "$work/new" && "$buf" breaking own --against "$work/old/own")
}

generate() {
  # A proto that does not compile leaves the generated code unchanged.
  "$buf" generate "$work/new" --template proto/buf.gen.yaml --path "$work/new/own/plaza" --output "$work"
  rm -rf proto/gen
  mv "$work/gen" proto/gen
  "$buf" build "$work/new" --path "$work/new/own/plaza" --as-file-descriptor-set -o "$work/plaza.binpb"
  go run ./hack/openapi -descriptors "$work/plaza.binpb" -by-hand platform/apidoc/byhand.yaml -out platform/apidoc/openapi.json
}

assemble "$work/new" proto
case ${1:-} in
  lint) (cd "$work/new" && "$buf" lint own && "$buf" format own --exit-code --diff) ;;
  breaking) check_breaking ;;
  "") generate ;;
  *)
    echo "unknown mode $1" >&2
    exit 2
    ;;
esac
