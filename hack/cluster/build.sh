#!/usr/bin/env bash
# Builds programs of Kubernetes from the modules pinned by go.mod here and in coredns/.
#   hack/cluster/build.sh DIR etcd kube-apiserver kubectl …
# The first build takes minutes. Later only programs whose version or flags have changed are rebuilt: DIR/.NAME.built
# contains a checksum of both.
set -euo pipefail
cd "$(dirname "$0")/../.."

folder=$1
shift
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)

# The version that the programs report, which kubelets and clients compare.
version=$(sed -n 's/^[[:space:]]*k8s\.io\/kubernetes \(v[0-9.]*\).*/\1/p' hack/cluster/go.mod | sed -n 1p)
IFS=. read -r major minor _ <<<"${version#v}"
flags="-s -w"
for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
  flags+=" -X $package.gitVersion=$version -X $package.gitMajor=$major -X $package.gitMinor=$minor"
  flags+=" -X $package.gitTreeState=clean"
done

# Static programs run on any Linux, and in images without other files.
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
      echo "build.sh: unknown program $name" >&2
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
