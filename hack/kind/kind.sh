#!/usr/bin/env bash
# Clusters in Docker for Plaza's tests, made by kind, which is built from its module. For Linux and macOS, with bash 3.2 and later.
#   hack/kind/kind.sh up                 start a cluster with a node in each region, and CockroachDB in it
#   hack/kind/kind.sh up-three           start three clusters, one for each region, and CockroachDB in that of us
#   hack/kind/kind.sh load ARCHIVE.tar … load image archives on all nodes
#   hack/kind/kind.sh cut REGION         disconnect a region: us, eu or sg
#   hack/kind/kind.sh heal REGION        reconnect it
#   hack/kind/kind.sh address REGION     print the address of the node of a region
#   hack/kind/kind.sh down               remove the clusters
# The kubeconfigs are .plaza-kind/plaza for the one cluster, and .plaza-kind/plaza-us and so on for the three. KIND is the path of kind
# if it is to be used instead of the module's, PLAZA_KIND_DIR another directory than .plaza-kind.
set -euo pipefail
cd "$(dirname "$0")/../.."

regions="us eu sg"
folder=${PLAZA_KIND_DIR:-$PWD/.plaza-kind}
kind=${KIND:-$PWD/bin/tools/kind}

fail() {
  echo "kind.sh: $*" >&2
  exit 1
}

# locality prints the label of a region's nodes.
locality() {
  case $1 in
    us) echo us-east1 ;;
    eu) echo europe-west1 ;;
    sg) echo asia-southeast1 ;;
    *) fail "unknown region \"$1\": want us, eu or sg" ;;
  esac
}

prepare() {
  if ! docker version >/dev/null 2>&1; then
    fail "Docker does not answer (docker version). Without Docker, on Linux, use make cluster-up"
  fi
  if [[ -z ${KIND:-} ]] && [[ ! -x $kind || hack/kind/go.mod -nt $kind ]]; then
    hack/gobuild.sh -C hack/kind -o "$kind" sigs.k8s.io/kind
    touch "$kind"
  fi
}

# clusters prints the names of the clusters that run.
clusters() {
  local name
  for name in $("$kind" get clusters 2>/dev/null); do
    case $name in plaza | plaza-us | plaza-eu | plaza-sg) echo "$name" ;; esac
  done
}

is_running() {
  local running
  running=$(clusters)
  [[ $'\n'$running$'\n' == *$'\n'$1$'\n'* ]]
}

# inside NODE ARGUMENTS runs kubectl on the node of a control plane, which has it.
inside() {
  local node=$1
  shift
  docker exec -i "$node" kubectl --kubeconfig=/etc/kubernetes/admin.conf "$@"
}

# node_of prints the node of a region.
node_of() {
  local label
  label=$(locality "$1")
  if is_running "plaza-$1"; then
    echo "plaza-$1-control-plane"
  elif is_running plaza; then
    inside plaza-control-plane get nodes -l "topology.kubernetes.io/region=$label" -o "jsonpath={.items[0].metadata.name}" </dev/null
  else
    fail "no cluster is running: run make kind-up"
  fi
}

address_of() { docker inspect -f '{{(index .NetworkSettings.Networks "kind").IPAddress}}' "$1"; }

# create NAME CONFIG
create() {
  mkdir -p "$folder"
  if is_running "$1"; then return 0; fi
  "$kind" create cluster --name "$1" --config "$2" --kubeconfig "$folder/$1" --wait 5m
  inside "$1-control-plane" wait node --all --for=condition=Ready --timeout=5m </dev/null
}

# database NODE installs CockroachDB in the cluster of a control plane.
database() {
  echo "CockroachDB …"
  inside "$1" apply -f - <hack/kind/cockroachdb.yaml
  inside "$1" -n plaza-database wait job/cockroachdb-init --for=condition=Complete --timeout=10m </dev/null
  inside "$1" -n plaza-database rollout status statefulset/cockroachdb --timeout=5m </dev/null
}

up() {
  if is_running plaza-us; then fail "three clusters are running: run make kind-down first"; fi
  create plaza hack/kind/cluster.yaml
  database plaza-control-plane
  echo "The cluster is running: export KUBECONFIG=$folder/plaza"
}

up_three() {
  if is_running plaza; then fail "one cluster of all regions is running: run make kind-down first"; fi
  local region address
  for region in $regions; do create "plaza-$region" "hack/kind/cluster-$region.yaml"; done
  database plaza-us-control-plane
  address=$(address_of plaza-us-control-plane)
  for region in eu sg; do
    sed "s/ADDRESS/$address/" hack/kind/database-elsewhere.yaml | inside "plaza-$region-control-plane" apply -f -
  done
  echo "The clusters are running; their kubeconfigs are $folder/plaza-us, plaza-eu and plaza-sg"
}

load() {
  local name archive running
  running=$(clusters)
  if [[ -z $running ]]; then fail "no cluster is running: run make kind-up"; fi
  for archive in "$@"; do
    if [[ ! -f $archive ]]; then fail "no file $archive"; fi
    for name in $running; do "$kind" load image-archive "$archive" --name "$name"; done
  done
}

# The rules with which a node loses all its connections, as if its link were down. Its address and the published port of its API server
# stay the same, unlike after docker network disconnect, and it keeps running, unlike after docker pause.
drop="INPUT_-i FORWARD_-i FORWARD_-o OUTPUT_-o"

# switch NODE -I|-D adds the rules, or removes them.
switch() {
  local program rule
  for program in iptables ip6tables; do
    for rule in $drop; do
      local match=("${rule%_*}" "${rule#*_}" eth0 -m comment --comment plaza-cut -j DROP)
      if docker exec "$1" "$program" -w -C "${match[@]}" 2>/dev/null; then
        if [[ $2 == -D ]]; then docker exec "$1" "$program" -w -D "${match[@]}"; fi
      elif [[ $2 == -I ]]; then
        docker exec "$1" "$program" -w -I "${match[@]}"
      fi
    done
  done
}

cut() {
  local node
  node=$(node_of "$1")
  switch "$node" -I
  echo "$node is disconnected. To reconnect it: hack/kind/kind.sh heal $1"
}

heal() {
  local node
  node=$(node_of "$1")
  switch "$node" -D
  echo "$node is connected again"
}

address() {
  local node
  node=$(node_of "$1")
  address_of "$node"
}

down() {
  local name
  for name in $(clusters); do "$kind" delete cluster --name "$name" --kubeconfig "$folder/$name"; done
  rm -rf "$folder"
}

usage() {
  sed -n 's/^#   //p' hack/kind/kind.sh >&2
  exit 2
}

case ${1:-}:$# in
  up:1 | up-three:1 | down:1) ;;
  cut:2 | heal:2 | address:2) locality "$2" >/dev/null ;;
  load:1) usage ;;
  load:*) ;;
  *) usage ;;
esac
prepare
command=$1
shift
case $command in
  up) up ;;
  up-three) up_three ;;
  load) load "$@" ;;
  cut) cut "$1" ;;
  heal) heal "$1" ;;
  address) address "$1" ;;
  down) down ;;
esac
