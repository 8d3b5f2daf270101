#!/usr/bin/env bash
# Runs go build and shows its progress, because a cold build takes a minute or more.
#   hack/gobuild.sh [flags of go build] packages
set -euo pipefail

target=${*: -1}
count=0
show() {
  if [[ -t 2 ]]; then
    printf '\r\033[K%s: %d packages, %s' "$target" "$count" "$1" >&2
  elif ((count % 100 == 0)); then
    printf '%s: %d packages compiled\n' "$target" "$count" >&2
  fi
}

# -C must be the first flag. With -v, go prints the import path of each package that it compiles; every other line is a
# message.
args=("$@")
verbose=(-v)
if [[ ${args[0]} == -C ]]; then
  verbose=(-C "${args[1]}" -v)
  args=("${args[@]:2}")
fi
go build "${verbose[@]}" "${args[@]}" 2>&1 | while IFS= read -r line; do
  if [[ $line =~ ^[a-z0-9.-]+(/[^[:space:]:]+)*$ ]]; then
    count=$((count + 1))
    show "$line"
  elif [[ $line == "go: downloading "* && ! -t 2 ]]; then
    continue
  else
    printf '%s\n' "$line" >&2
  fi
done
if [[ -t 2 ]]; then printf '\r\033[K' >&2; fi
