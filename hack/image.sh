#!/usr/bin/env bash
# Builds a static program and packs it into bin/NAME-image.tar, an image with a single layer, without a container
# daemon, and writes its software bill of materials, bin/NAME-sbom.json. With IMAGE_ARCHS it writes bin/NAME-index.tar instead: an OCI
# layout with an image for each architecture.
#   IMAGE_ARCH=amd64 VERSION=v1 REVISION=… LDFLAGS=… hack/image.sh NAME PACKAGE IMAGE:TAG
#   IMAGE_ARCHS=amd64,arm64 VERSION=v1 REVISION=… LDFLAGS=… hack/image.sh NAME PACKAGE IMAGE:TAG
set -euo pipefail
cd "$(dirname "$0")/.."
name=$1 package=$2 tag=$3

build() { # architecture, binary
  CGO_ENABLED=0 GOOS=linux GOARCH=$1 hack/gobuild.sh -trimpath -ldflags "-s -w $LDFLAGS" -o "$2" "$package"
}

program=$PWD/bin/image/$name
common=(-binary "$program" -name "$name" -tag "$tag" -version "$VERSION" -revision "$REVISION")
if [[ -n ${IMAGE_ARCHS:-} ]]; then
  for arch in ${IMAGE_ARCHS//,/ }; do build "$arch" "$program-$arch"; done
  go -C hack/image run . "${common[@]}" -index "$IMAGE_ARCHS" -out "$PWD/bin/$name-index.tar"
  exit
fi
build "$IMAGE_ARCH" "$program"
go -C hack/image run . "${common[@]}" -arch "$IMAGE_ARCH" -sbom "$PWD/bin/$name-sbom.json" -out "$PWD/bin/$name-image.tar"
