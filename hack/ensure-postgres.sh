#!/usr/bin/env bash
# Ensures that `plaza dev` and the tests find a database, as package platform/devdb looks for it: PLAZA_DATABASE_URL,
# cockroach, or the PostgreSQL server programs. On Debian, as root, it installs the latter; elsewhere it prints
# instructions.
set -euo pipefail
cd "$(dirname "$0")/.."
source hack/apt.sh

has_cockroach() { [[ -n ${COCKROACH_BINARY:-} ]] || command -v cockroach >/dev/null; }

has_postgres() {
  local bin
  for bin in /usr/lib/postgresql/*/bin /usr/pgsql-*/bin /opt/homebrew/opt/postgresql@*/bin \
    /usr/local/opt/postgresql@*/bin /Applications/Postgres.app/*/Versions/*/bin \
    "$(pg_config --bindir 2>/dev/null || true)" "$(dirname "$(readlink -f "$(command -v postgres || true)")")"; do
    if [[ -x $bin/initdb && -x $bin/postgres ]]; then return 0; fi
  done
  return 1
}

# Prevents Debian's package from creating and starting a cluster, because the programs use their own directories.
install_postgres() {
  local settings=/etc/postgresql-common/createcluster.conf
  if [[ ! -e $settings ]]; then
    mkdir -p "${settings%/*}"
    echo 'create_main_cluster = false' >"$settings"
  fi
  apt_install postgresql
}

if [[ -n ${PLAZA_DATABASE_URL:-} ]] || has_cockroach || has_postgres; then
  exit 0
fi
if can_apt; then
  install_postgres
  has_postgres && exit 0
fi
echo "no database found: set PLAZA_DATABASE_URL, or COCKROACH_BINARY to the path of cockroach, or install the PostgreSQL server programs (Debian: apt-get install postgresql; macOS: brew install postgresql@17)" >&2
exit 1
