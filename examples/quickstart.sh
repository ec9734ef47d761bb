#!/usr/bin/env bash
# From a clean clone to a trained model: installs missing packages (apt, with sudo if not root),
# builds the programs, and trains four workers on a 2x2 torus on the embedded data set.
#
# usage: examples/quickstart.sh [--no-install] [--build-dir DIR] [OPTION OF fast train...]
#   --no-install      do not look for missing Debian packages
#   --build-dir DIR   build there instead of in build/
#   any other option  passed on, e.g. --epochs 2, --topology ring:3, --out runs/mine
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

install=true
build=$root/build
options=()
while [ $# -gt 0 ]; do
  case "$1" in
    --no-install) install=false ;;
    --build-dir)
      if [ $# -lt 2 ]; then echo "quickstart.sh: --build-dir needs a folder" >&2; exit 2; fi
      shift
      build=$1
      ;;
    -h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; exit 0 ;;
    *) options+=("$1") ;;
  esac
  shift
done

if $install; then "$root/tests/install-packages.sh" build; fi

echo "== Building the programs in $build on $(nproc) cores"
mkdir -p "$build"
if [ ! -f "$build/build.ninja" ]; then  # one that exists may build the tests too: leave it so
  cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DFAST_BUILD_TESTS=OFF \
    -DFAST_BUILD_EXAMPLES=OFF -DFAST_BUILD_BENCH=OFF >"$build/configure.log" 2>&1 ||
    { cat "$build/configure.log"; exit 1; }
fi
cmake --build "$build" --target programs

# A folder of its own for every run, unless --out names one.
out=$root/runs/quickstart
number=1
while [ -e "$out" ]; do
  number=$((number + 1))
  out=$root/runs/quickstart-$number
done
defaults=(--topology torus:2x2 --model resnet8 --data synthetic --epochs 5 --out "$out")
train=()
for ((i = 0; i < ${#defaults[@]}; i += 2)); do
  name=${defaults[i]}
  case " ${options[*]:-} " in
    *" $name "* | *" $name="*) ;;
    *) train+=("$name" "${defaults[i + 1]}") ;;
  esac
done
train+=("${options[@]:+${options[@]}}")

echo "== fast train ${train[*]}"
exec "$build/bin/fast" train "${train[@]}"
