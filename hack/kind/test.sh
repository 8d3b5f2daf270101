#!/usr/bin/env bash
# Runs the operator's tests in Docker: starts the clusters of kind.sh, loads Plaza's images, runs the tests, and removes the clusters
# unless they were already running. The tests reach Services, pods and the database through the API server only, as is necessary
# where containers run in a virtual machine.
#   hack/kind/test.sh [flags of go test] packages
# With CLUSTERS=three there is a cluster for each region.
set -euo pipefail
cd "$(dirname "$0")/../.."
source hack/cluster/images.sh

program=$PWD/hack/kind/kind.sh
folder=$PWD/.plaza-kind
if [[ ${CLUSTERS:-} == three ]]; then up=up-three first=plaza-us; else up=up first=plaza; fi
if [[ ! -f $folder/$first ]]; then trap '"$program" down' EXIT; fi
"$program" "$up"

build_images
"$program" load bin/*-image.tar

export CLUSTER_PROGRAM=$program CLUSTER_ROUTE=port-forward KUBECONFIG=$folder/$first
export CLUSTER_DATABASE_URL="postgresql://root@cockroachdb.plaza-database.svc.cluster.local:32257/defaultdb?sslmode=disable"
if [[ ${CLUSTERS:-} == three ]]; then
  export CLUSTER_MEMBERS=eu=$folder/plaza-eu,sg=$folder/plaza-sg
  eu=$("$program" address eu)
  sg=$("$program" address sg)
  export CLUSTER_MEMBER_SERVERS=eu=https://$eu:6443,sg=https://$sg:6443
fi
hack/cluster/test.sh "$@"
