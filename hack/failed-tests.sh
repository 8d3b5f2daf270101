#!/usr/bin/env bash
# Reads the output of go test, of one or several packages, from a file. Prints a line for each package that has failed: its path
# and a pattern for -run of its tests that have failed. Exits with 1 if running these tests once more would hide something: a data
# race, a panic, a timeout, or a package that failed without a failed test, such as one that does not compile.
#   hack/failed-tests.sh FILE
set -euo pipefail
awk '
  /^WARNING: DATA RACE|^panic: |^fatal error: / { other = other "\n" $0 }
  /^--- FAIL: / {
    if ($3 !~ /^Test/) other = other "\n" $0
    else if (!seen[$3]++) names = names (names == "" ? "" : "|") $3
  }
  /^FAIL\t/ {
    if (names == "" || /\[(build|setup) failed\]/) other = other "\n" $0
    else print $2, "^(" names ")$"
    names = ""; split("", seen)
  }
  END { if (other != "") { print "not only failed tests:" other > "/dev/stderr"; exit 1 } }
' "$1"
