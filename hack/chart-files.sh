#!/usr/bin/env bash
# Copies the files that helm can only read from the chart's own directory: the CRD and the rules of the operator's role.
set -euo pipefail
cd "$(dirname "$0")/.."
files=charts/plaza-operator/files
mkdir -p "$files"
cp config/crd/bases/plaza.social_socialnetworks.yaml "$files/"
sed '1,/^rules:$/d' config/rbac/manager/role.yaml >"$files/rules.yaml"
sed '1,/^rules:$/d' config/member/namespace/role.yaml >"$files/member-rules.yaml"
