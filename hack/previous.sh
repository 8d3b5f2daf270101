#!/usr/bin/env bash
# Builds the platform's image of the previous release from its commit, as bin/plaza-previous-image.tar with the tag plaza:previous.
# Only the program is built, so that with a warm build cache it takes seconds. Exits with 4, and prints why, if the commit is not in
# the clone. After a release, write its commit here, and the names of its migrations into
# platform/store/migrations/testdata/released.txt.
set -euo pipefail
cd "$(dirname "$0")/.."

commit=d5c70a0ea7234f43db23ee45e7db44ef13375f2c

if ! git cat-file -e "$commit^{commit}" 2>/dev/null; then
  reason="commit $commit of the previous release is not in this clone"
  if [[ $(git rev-parse --is-shallow-repository 2>/dev/null) == true ]]; then reason+=", which is shallow: run git fetch --unshallow"; fi
  echo "$reason"
  exit 4
fi
source=$PWD/bin/previous
rm -rf "$source"
mkdir -p "$source" bin/image
git archive "$commit" | tar -x -C "$source"
CGO_ENABLED=0 GOOS=linux GOARCH=${IMAGE_ARCH:-$(go env GOARCH)} hack/gobuild.sh -C "$source" -trimpath -buildvcs=false \
  -tags=disable_grpc_modules -ldflags "-s -w -X github.com/plaza-social/plaza/platform/telemetry.version=previous" \
  -o "$PWD/bin/image/plaza-previous" ./platform/cmd/plaza >&2
rm -rf "$source"
go -C hack/image run . -binary "$PWD/bin/image/plaza-previous" -name plaza -arch "${IMAGE_ARCH:-$(go env GOARCH)}" \
  -tag plaza:previous -version previous -revision "$commit" -out "$PWD/bin/plaza-previous-image.tar" >&2
