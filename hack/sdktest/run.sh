#!/usr/bin/env bash
# Runs the public client SDKs against Plaza: hack/sdktest/run.sh [flags of main.js]. Node and npm come from Debian if they
# are missing. The packages are installed below bin, which git ignores: their licence does not permit copies in the project.
set -euo pipefail
cd "$(dirname "$0")/../.."
source hack/apt.sh

has_node() { command -v node >/dev/null && command -v npm >/dev/null && node -e 'process.exit(process.versions.node.split(".")[0] >= 18 ? 0 : 1)'; }

if ! has_node && can_apt; then apt_install nodejs npm; fi
if ! has_node; then
  echo "Node.js 18 or later and npm are missing: install them (Debian: apt-get install nodejs npm; macOS: brew install node)" >&2
  exit 1
fi

modules=bin/sdktest
mkdir -p "$modules"
if ! cmp -s hack/sdktest/package-lock.json "$modules/installed.json"; then
  cp hack/sdktest/package.json hack/sdktest/package-lock.json "$modules"
  # Without peer dependencies: one is React Native, which lib/environment.js substitutes.
  npm ci --prefix "$modules" --legacy-peer-deps --ignore-scripts --no-audit --no-fund --loglevel error
  cp hack/sdktest/package-lock.json "$modules/installed.json"
fi
NODE_PATH=$PWD/$modules/node_modules exec node hack/sdktest/main.js --plaza bin/plaza "$@"
