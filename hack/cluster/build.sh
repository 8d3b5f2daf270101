#!/usr/bin/env bash
# Builds programs of Kubernetes from the modules that go.mod here and in coredns/ pins.
#   hack/cluster/build.sh FOLDER etcd kube-apiserver kubectl …
# It takes minutes the first time; later only what another version or flag asks for is built again: FOLDER/.NAME.built
# holds the checksum of both.
set -euo pipefail
cd "$(dirname "$0")/../.."

folder=$1
shift
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)

# What the programs say of themselves: kubelets and clients compare these numbers.
version=$(sed -n 's/^[[:space:]]*k8s\.io\/kubernetes \(v[0-9.]*\).*/\1/p' hack/cluster/go.mod | sed -n 1p)
IFS=. read -r major minor _ <<<"${version#v}"
flags="-s -w"
for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
  flags+=" -X $package.gitVersion=$version -X $package.gitMajor=$major -X $package.gitMinor=$minor"
  flags+=" -X $package.gitTreeState=clean"
done

# Static programs: they run on any Linux, and in an image with nothing else in it.
export CGO_ENABLED=0

for name in "$@"; do
  module=hack/cluster
  case $name in
    etcd) package=go.etcd.io/etcd/server/v3 ;;
    kube-apiserver | kube-controller-manager | kube-scheduler | kubelet | kube-proxy | kubectl)
      package=k8s.io/kubernetes/cmd/$name
      ;;
    coredns) module=hack/cluster/coredns package=. ;;
    pause | echo) package=./$name ;;
    *)
      echo "build.sh: no program $name" >&2
      exit 2
      ;;
  esac
  inputs=("$module/go.mod" "$module/go.sum" hack/cluster/build.sh)
  if [[ $package == .* ]]; then inputs+=("$module/$package"/*.go); fi
  sum=$({ cat "${inputs[@]}" && go env GOOS GOARCH GOVERSION; } | cksum)
  if [[ -x $folder/$name && -f $folder/.$name.built && $(<"$folder/.$name.built") == "$sum" ]]; then continue; fi
  echo "building $name from its module" >&2
  rm -f "$folder/.$name.built"
  hack/gobuild.sh -C "$module" -trimpath -ldflags "$flags" -o "$folder/$name" "$package"
  echo "$sum" >"$folder/.$name.built"
done
