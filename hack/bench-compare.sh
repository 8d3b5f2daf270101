#!/bin/sh
# Compares the platform of this source tree with that of another commit: make bench-compare BASE=<commit>.
set -eu

if [ -z "${1:-}" ]; then
  echo 'Name the commit to compare with: make bench-compare BASE=<commit>' >&2
  exit 2
fi
base=$1
shift
dir=$(mktemp -d)
trap 'git worktree remove --force "$dir/tree" 2>/dev/null || true; rm -rf "$dir"' EXIT
trap 'exit 1' INT TERM

echo "building plaza of $base"
git worktree add --quiet --detach "$dir/tree" "$base"
go -C "$dir/tree" build -tags disable_grpc_modules -o "$dir/plaza" ./platform/cmd/plaza
go run ./platform/bench -against "$dir/plaza" -concurrency 16 -rounds 9 -precision 0.03 -feed-posts 0 "$@"
