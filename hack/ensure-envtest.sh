#!/usr/bin/env bash
# Ensures that the control plane for the operator's tests exists: etcd, kube-apiserver and kubectl in one directory,
# whose path it prints. It uses, in this order: the directory KUBEBUILDER_ASSETS; bin/envtest, if complete; a download
# by setup-envtest, if its host is reachable; otherwise it builds the programs from Go modules (three minutes, once).
#   KUBEBUILDER_ASSETS=$(hack/ensure-envtest.sh) go test ./controllers/...
set -euo pipefail
cd "$(dirname "$0")/.."

programs=(etcd kube-apiserver kubectl)
assets=$PWD/bin/envtest
downloads=$PWD/bin/tools/envtest

has_programs() {
  local program
  for program in "${programs[@]}"; do
    [[ -x $1/$program ]] || return 1
  done
}

# within SECONDS COMMAND limits the time for an unresponsive host. Without timeout, as on macOS, there is no limit.
within() {
  if command -v timeout >/dev/null; then timeout "$@"; else "${@:2}"; fi
}

# The Kubernetes release pinned by the cluster's module: v1.34.4 becomes 1.34.x.
release=$(sed -n 's/^[[:space:]]*k8s\.io\/kubernetes v\([0-9]*\.[0-9]*\)\..*/\1.x/p' hack/cluster/go.mod | sed -n 1p)

if [[ -n ${KUBEBUILDER_ASSETS:-} ]]; then
  if ! has_programs "$KUBEBUILDER_ASSETS"; then
    echo "KUBEBUILDER_ASSETS is $KUBEBUILDER_ASSETS, which must contain ${programs[*]}" >&2
    exit 1
  fi
  echo "$KUBEBUILDER_ASSETS"
  exit 0
fi

# Uses an existing download or downloads the programs.
from_download() {
  local setup=(go -C hack/tools/setup-envtest tool setup-envtest --bin-dir "$downloads")
  if path=$("${setup[@]}" use -i -p path "$release" 2>/dev/null) && has_programs "$path"; then return 0; fi
  within 15 "${setup[@]}" list >/dev/null 2>&1 || return 1
  echo "downloading the control plane with setup-envtest" >&2
  path=$(within 300 "${setup[@]}" use -p path "$release") && has_programs "$path"
}

# Builds the programs from modules. Any version of kubectl is sufficient.
from_modules() {
  local own=(etcd kube-apiserver)
  if command -v kubectl >/dev/null; then
    mkdir -p "$assets"
    ln -sf "$(command -v kubectl)" "$assets/kubectl"
  else
    own+=(kubectl)
  fi
  hack/cluster/build.sh "$assets" "${own[@]}"
}

# build.sh rebuilds only programs whose version or flags have changed.
if [[ ! -x $assets/kube-apiserver ]] && from_download; then
  echo "$path"
  exit 0
fi
from_modules
echo "$assets"
