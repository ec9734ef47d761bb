#!/usr/bin/env bash
# Makes a small Debian by debootstrap, where it is not there yet, and prints its folder: the system in
# root/, apt's downloads in archives/. As root.
#
# usage: tests/packages/base_system.sh RELEASE     bookworm, trixie ..
# They stay in FAST_DEB_DIR (/var/cache/fast-deb).
set -euo pipefail
if [ $# -ne 1 ]; then sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0" >&2; exit 2; fi
base=${FAST_DEB_DIR:-/var/cache/fast-deb}/$1
if [ "$(id -u)" -ne 0 ] || ! command -v debootstrap >/dev/null; then
  echo "this needs to be root, and debootstrap: tests/install-packages.sh deb" >&2
  exit 1
fi
mkdir -p "$base/archives/partial"
if [ ! -e "$base/complete" ]; then
  rm -rf "$base/root"
  mkdir "$base/root"
  debootstrap --variant=minbase --include=ca-certificates "$1" "$base/root" \
    http://deb.debian.org/debian >"$base/log" 2>&1 || { cat "$base/log" >&2; exit 1; }
  touch "$base/complete"
fi
echo "$base"
