#!/usr/bin/env bash
# Checks the style of Go and proto files, the vocabulary, and the compatibility of the protos with proto/baseline.binpb.
#   hack/lint.sh changed   what differs from the commit in hack/linted
#   hack/lint.sh all       everything, with the files of all build tags
# After `hack/lint.sh all` has passed for a commit, write it into hack/linted.
set -euo pipefail
cd "$(dirname "$0")/.."

modules=(hack/crdbcheck hack/image hack/cluster hack/kind hack/packaging)
tags=disable_grpc_modules,faults,attacks,alerts,ui,install,cluster,bench,observe,recipe
golangci=$PWD/bin/tools/golangci-lint
buf=$PWD/bin/tools/buf

# A tool is built only if something is to be checked with it.
tool() { make --no-print-directory "$1"; }

# changed prints the files below PATHS that differ from the last commit that was checked whole.
changed() {
  { git diff --name-only "$linted" -- "$@" && git ls-files --others --exclude-standard -- "$@"; } | sort -u
}

# folders MODULE prints the folders of the Go files in its input that exist, as patterns of packages of a module.
folders() {
  while read -r file; do
    if [[ $file == *.go && -e $file ]]; then dirname "./${file#"$1"/}"; fi
  done | sort -u
}

# golangci MODULE PATTERNS lints packages of a module.
golangci() {
  local module=$1
  shift
  local config=$root/.golangci.yml
  if [[ $module != . ]]; then
    # The rules of hack/lint import a package that only the main module requires.
    config=$root/bin/golangci-modules.yml
    sed '/enabled-checks: \[ruleguard\]/d' .golangci.yml >"$config"
  fi
  tool "$golangci"
  echo "golangci-lint in $module: $*"
  (cd "$module" && "$golangci" run --allow-parallel-runners --config "$config" --build-tags "$tags" "$@") # another checkout may be linted
}

root=$PWD
lint_go() {
  local module patterns excluded=()
  for module in "${modules[@]}"; do
    excluded+=(":!$module")
    if [[ $mode == all ]]; then
      golangci "$module" ./...
      continue
    fi
    mapfile -t patterns < <(changed "$module" | folders "$module")
    if ((${#patterns[@]})); then golangci "$module" "${patterns[@]}"; fi
  done
  if [[ $mode == all ]]; then
    golangci . ./...
    return
  fi
  mapfile -t patterns < <(changed '*.go' "${excluded[@]}" ':!hack/tools' | folders .)
  if ((${#patterns[@]})); then
    golangci . "${patterns[@]}"
  else
    echo "golangci-lint: not run, because no Go file differs from $linted"
  fi
}

lint_proto() {
  if [[ $mode == changed && -z $(changed proto) ]]; then
    echo "buf: not run, because no proto file differs from $linted"
    return
  fi
  tool "$buf"
  BUF=$buf hack/generate.sh lint
  BUF=$buf hack/generate.sh breaking
}

mode=${1:-changed}
case $mode in
all) ;;
changed)
  linted=$(<hack/linted)
  if ! git cat-file -e "$linted^{commit}" 2>/dev/null; then
    echo "the commit of hack/linted is not in this clone: everything is checked"
    mode=all
  elif [[ -n $(changed .golangci.yml hack/tools/golangci) ]]; then
    echo "the configuration of golangci-lint differs from $linted: everything is checked"
    mode=all
  fi
  ;;
*)
  echo "unknown mode $mode: all or changed" >&2
  exit 2
  ;;
esac
lint_go
lint_proto
go run ./hack/vocabulary
