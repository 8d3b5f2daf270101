#!/usr/bin/env bash
# Sees to it that the operator's tests have a control plane: etcd, kube-apiserver and kubectl in one folder, whose path
# is printed. In this order: the folder that KUBEBUILDER_ASSETS names; bin/envtest, when it has them already; a download
# by setup-envtest, where its host can be reached; else they are built from their Go modules (three minutes, once).
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

# within SECONDS COMMAND: for a host that neither answers nor refuses. macOS has no timeout; there it waits.
within() {
  if command -v timeout >/dev/null; then timeout "$@"; else "${@:2}"; fi
}

# The release of Kubernetes that the cluster's module pins: v1.34.4 is looked for as 1.34.x.
release=$(sed -n 's/^[[:space:]]*k8s\.io\/kubernetes v\([0-9]*\.[0-9]*\)\..*/\1.x/p' hack/cluster/go.mod | sed -n 1p)

if [[ -n ${KUBEBUILDER_ASSETS:-} ]]; then
  if ! has_programs "$KUBEBUILDER_ASSETS"; then
    echo "KUBEBUILDER_ASSETS is $KUBEBUILDER_ASSETS, which has to hold ${programs[*]}" >&2
    exit 1
  fi
  echo "$KUBEBUILDER_ASSETS"
  exit 0
fi

# From a download: one that is there already, or one that can be had.
from_download() {
  local setup=(go -C hack/tools/setup-envtest tool setup-envtest --bin-dir "$downloads")
  if path=$("${setup[@]}" use -i -p path "$release" 2>/dev/null) && has_programs "$path"; then return 0; fi
  within 15 "${setup[@]}" list >/dev/null 2>&1 || return 1
  echo "downloading the control plane with setup-envtest" >&2
  path=$(within 300 "${setup[@]}" use -p path "$release") && has_programs "$path"
}

# From modules. kubectl may be any version: the tests only need one to be there.
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

# What was built is kept: build.sh builds again only what a new version asks for.
if [[ ! -x $assets/kube-apiserver ]] && from_download; then
  echo "$path"
  exit 0
fi
from_modules
echo "$assets"
