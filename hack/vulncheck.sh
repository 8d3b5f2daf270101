#!/usr/bin/env bash
# Looks for known vulnerabilities in the code that Plaza calls: hack/vulncheck.sh GOVULNCHECK. With --reachable instead, it
# only reports whether the database of vulnerabilities can be reached. GOVULNDB names another database.
set -euo pipefail
cd "$(dirname "$0")/.."

database=${GOVULNDB:-https://vuln.go.dev}

reachable() {
  case $database in
  file://*) [[ -f ${database#file://}/index/db.json ]] ;;
  *) curl --silent --show-error --fail --location --max-time 20 --output /dev/null "$database/index/db.json" ;;
  esac
}

if [[ ${1:-} == --reachable ]]; then
  reachable
else
  "$1" -db "$database" ./...
fi
