#!/usr/bin/env bash
# Ensures that a browser exists for the test of the page at /docs: Chromium or Chrome in PATH, or the program named by
# CHROMIUM. On Debian, as root, it installs one; elsewhere it prints instructions.
set -euo pipefail
cd "$(dirname "$0")/.."
source hack/apt.sh

# The names that platform/apidoc/browser_test.go looks for.
has_chromium() {
  local name
  for name in ${CHROMIUM:-chromium chromium-browser google-chrome google-chrome-stable chrome}; do
    if command -v "$name" >/dev/null; then return 0; fi
  done
  [[ -x "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome" ]]
}

if has_chromium; then exit 0; fi
if can_apt; then
  apt_install chromium
  has_chromium && exit 0
fi
echo "no browser found: install Chromium or Chrome (Debian: apt-get install chromium; macOS: brew install --cask google-chrome), or set CHROMIUM to its path" >&2
exit 1
