# Sourced by hack/ensure-*.sh and .ci/run.

# can_apt reports whether packages can be installed unattended.
can_apt() { [[ $(id -u) == 0 ]] && command -v apt-get >/dev/null; }

# apt_install PACKAGES installs Debian packages and shows the output of apt only if it fails.
apt_install() {
  local log
  log=$(mktemp)
  echo "installing $* with apt-get" >&2
  if ! {
    apt-get update -qq &&
      DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends -o Dpkg::Options::=--force-confold "$@"
  } </dev/null >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    echo "apt-get could not install $*" >&2
    return 1
  fi
  rm -f "$log"
}
