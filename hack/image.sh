#!/usr/bin/env bash
# Builds a static program and packs it into bin/NAME-image.tar, an image with a single layer, without a container
# daemon.
#   IMAGE_ARCH=amd64 VERSION=v1 REVISION=… LDFLAGS=… hack/image.sh NAME PACKAGE IMAGE:TAG
set -euo pipefail
cd "$(dirname "$0")/.."
name=$1 package=$2 tag=$3

CGO_ENABLED=0 GOOS=linux GOARCH=$IMAGE_ARCH hack/gobuild.sh -trimpath -ldflags "-s -w $LDFLAGS" -o "bin/image/$name" "$package"
go -C hack/image run . -binary "$PWD/bin/image/$name" -name "$name" -arch "$IMAGE_ARCH" \
  -tag "$tag" -version "$VERSION" -revision "$REVISION" -out "$PWD/bin/$name-image.tar"
