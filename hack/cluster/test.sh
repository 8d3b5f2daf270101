#!/usr/bin/env bash
# Runs tests on a real cluster: starts the one of this folder, loads Plaza's images, tries the cluster itself, runs the
# tests, and ends the cluster, unless it ran before.
#   hack/cluster/test.sh [flags of go test] packages     without arguments: only the cluster itself
# With KUBECONFIG set, the tests run on that cluster, which has to hold the images of bin/install.yaml, and nothing is started.
# Exits with 3 where this machine cannot carry a cluster.
#
# The tests get KUBECONFIG; on the cluster of this folder also
#   CLUSTER_PROGRAM        the program whose `cut` and `heal` take a region off the network and put it back
#   CLUSTER_DATABASE_URL   a database that pods and this machine reach, whose user may make others
#   CLUSTER_IMAGE_TAG      the tag of the images that were loaded, such as plaza:TAG
set -euo pipefail
cd "$(dirname "$0")/../.."

if [[ -n ${KUBECONFIG:-} ]]; then
  if (($#)); then exec go test -count=1 -v -timeout 20m "$@"; fi
  echo "nothing to run: name the packages" >&2
  exit 2
fi

program=$PWD/bin/cluster/cluster
go -C hack/cluster build -o "$program" .

if ! "$program" status >/dev/null 2>&1; then
  trap '"$program" down' EXIT
  "$program" up
fi
if (($#)); then
  make --no-print-directory image install.yaml IMAGE_TAG=cluster
  "$program" load bin/*-image.tar
fi
"$program" smoke
if (($#)); then
  export KUBECONFIG=$PWD/.plaza-cluster/kubeconfig
  CLUSTER_PROGRAM=$program CLUSTER_IMAGE_TAG=cluster CLUSTER_DATABASE_URL=$(<.plaza-cluster/database-url) \
    go test -count=1 -v -timeout 20m "$@" # -v: it tells what it does while it does it
fi
