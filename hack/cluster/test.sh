#!/usr/bin/env bash
# Runs tests on a real cluster: starts the cluster of this directory, loads Plaza's images, runs the smoke test and the
# tests, and stops the cluster unless it was already running.
#   hack/cluster/test.sh [flags of go test] packages     without arguments: only the smoke test
# If KUBECONFIG is set, the tests run on that cluster, which must have the images of bin/install.yaml, and no cluster is
# started. Exits with 3 if this machine does not support the cluster.
#
# The tests get KUBECONFIG and, on the cluster of this directory,
#   CLUSTER_PROGRAM        the program whose `cut` and `heal` disconnect and reconnect a region, and whose `load` loads images
#   CLUSTER_CAPTURE        yes if its `capture` records the packets of the nodes
#   CLUSTER_DATABASE_URL   a database that pods can reach and whose user may create databases
#   CLUSTER_ROUTE          empty if this machine has a route to Services, pods and the database, as here, or port-forward if only
#                          the API server can be reached: then the host of CLUSTER_DATABASE_URL is the name of a Service
#   CLUSTER_IMAGE_TAG      the tag of the loaded images
#   CLUSTER_PREVIOUS_IMAGE the loaded image of the previous release, from which the network is upgraded, or
#   CLUSTER_PREVIOUS_MISSING  why there is none
#
# With CLUSTERS=three there is a cluster for each region: KUBECONFIG is that of us, and CLUSTER_MEMBERS has those of the others, such
# as eu=PATH,sg=PATH. CLUSTER_MEMBER_SERVERS has the addresses of their API servers for pods of us, if they differ from those in the
# kubeconfigs, such as eu=https://HOST:6443,sg=https://HOST:6443.
set -euo pipefail
cd "$(dirname "$0")/../.."
source hack/cluster/images.sh

if [[ -n ${KUBECONFIG:-} ]]; then
  if (($#)); then exec go test -count=1 -v -timeout 40m "$@"; fi
  echo "no packages given" >&2
  exit 2
fi

program=$PWD/bin/cluster/cluster
go -C hack/cluster build -o "$program" .

if ! "$program" status >/dev/null 2>&1; then
  trap '"$program" down' EXIT
  if [[ ${CLUSTERS:-} == three ]]; then "$program" up-three; else "$program" up; fi
fi
if (($#)); then
  build_images
  "$program" load bin/*-image.tar
fi
export KUBECONFIG=$PWD/.plaza-cluster/kubeconfig
if [[ ${CLUSTERS:-} == three ]]; then
  clusters=$PWD/.plaza-cluster/clusters
  export KUBECONFIG=$clusters/us/kubeconfig CLUSTER_MEMBERS=eu=$clusters/eu/kubeconfig,sg=$clusters/sg/kubeconfig
else
  "$program" smoke
fi
if (($#)); then
  CLUSTER_PROGRAM=$program CLUSTER_CAPTURE=yes CLUSTER_DATABASE_URL=$(<.plaza-cluster/database-url) go test -count=1 -v -timeout 40m "$@" # -v shows the progress
fi
