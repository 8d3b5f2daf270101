#!/usr/bin/env bash
# Copies the files that helm can only read from the chart's own directory: the CRD, the rules of the operator's role and the dashboards.
set -euo pipefail
cd "$(dirname "$0")/.."
files=charts/plaza-operator/files
mkdir -p "$files"
cp config/grafana/*.json "$files/"
cp config/crd/bases/plaza.social_socialnetworks.yaml "$files/"
sed '1,/^rules:$/d' config/rbac/manager/role.yaml >"$files/rules.yaml"
sed '1,/^rules:$/d' config/member/namespace/role.yaml >"$files/member-rules.yaml"
