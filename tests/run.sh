#!/usr/bin/env bash
# Installs missing packages, builds everything and runs every test.
#
# usage: tests/run.sh [--no-install] [--build-dir DIR] [CTEST OPTION...]
#   --no-install       do not look for missing Debian packages
#   --build-dir DIR    build there instead of in build/
#   CTEST OPTION       passed on, e.g. -R topology (by name), -L unit (by label), -j 4
#
# Tests labelled `data` need CIFAR-10 in its binary format; they run where FAST_CIFAR10_DIR names
# the folder that holds it, and are left out where it is not set. Tests labelled `cluster` need the
# packages of that group and are left out: ask for them by `-L cluster`, as root. So is the one
# labelled `chaos`, which takes ten minutes: `-L chaos`.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

install=true
build=$root/build
options=()
while [ $# -gt 0 ]; do
  case "$1" in
    --no-install) install=false ;;
    --build-dir)
      if [ $# -lt 2 ]; then echo "run.sh: --build-dir needs a folder" >&2; exit 2; fi
      shift
      build=$1
      ;;
    -h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; exit 0 ;;
    *) options+=("$1") ;;
  esac
  shift
done

cores=$(nproc)
if $install; then "$root/tests/install-packages.sh" build test; fi
echo "== Building in $build on $cores cores"
mkdir -p "$build"
cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DFAST_BUILD_TESTS=ON \
  -DFAST_BUILD_EXAMPLES=ON -DFAST_BUILD_BENCH=ON >"$build/configure.log" 2>&1 ||
  { cat "$build/configure.log"; exit 1; }
cmake --build "$build" -j "$cores"

named() { ctest --test-dir "$build" -N -L "^$1\$" | sed -nE 's/^ *Test +#[0-9]+: /  /p'; }
excluded=
for label in cluster chaos; do
  if [[ " ${options[*]} " == *$label* ]]; then continue; fi
  excluded="${excluded:+$excluded|}^$label\$"
  echo "== These tests, labelled $label, are left out: ask for them by -L $label"
  named $label
done
disabled=$(ctest --test-dir "$build" -N | sed -nE 's/^ *Test +#[0-9]+: (.*) \(Disabled\)$/  \1/p')
if [ -n "$disabled" ]; then
  echo "== These tests are left out: the tools that they need are not installed"
  echo "$disabled"
fi
if [ -z "${FAST_CIFAR10_DIR:-}" ]; then
  excluded="${excluded:+$excluded|}^data\$"
  echo "== Running the tests; FAST_CIFAR10_DIR is not set: these, which need CIFAR-10, are left out"
  named data
else
  echo "== Running the tests, with CIFAR-10 from $FAST_CIFAR10_DIR"
fi
if [ -n "$excluded" ]; then options=(--label-exclude "$excluded" "${options[@]}"); fi
ctest --test-dir "$build" --output-on-failure --no-tests=error -j $((2 * cores)) "${options[@]}"
