#!/usr/bin/env bash
# Builds Debian's packages of this machine's release and architecture, from two builds: fast of one
# with LibTorch, the others of one without.
#
# usage: tests/packages/build.sh [--without-torch] OUT
#   --without-torch   fast, too, of the build without LibTorch: quicker, and for machines that have none
# The packages are in OUT, which is emptied before; the builds are kept in build-deb/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

torch=true
if [ "${1:-}" = --without-torch ]; then torch=false; shift; fi
if [ $# -ne 1 ]; then sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0" >&2; exit 2; fi
mkdir -p "$1"
out=$(cd "$1" && pwd)
rm -f "$out"/*.deb

# build FOLDER PACKAGES [CMAKE OPTION...] -- [TARGET...]
build() {
  local folder=build-deb/$1 packages=$2
  local options=()
  shift 2
  while [ "$1" != -- ]; do options+=("$1"); shift; done
  shift
  if command -v ld.lld >/dev/null; then options+=(-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld); fi
  cmake -S . -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON \
    -DFAST_BUILD_TESTS=OFF -DFAST_BUILD_EXAMPLES=OFF -DCMAKE_INSTALL_PREFIX=/usr \
    -DCMAKE_SKIP_INSTALL_RPATH=ON "${options[@]}" >/dev/null
  cmake --build "$folder" -j "$(nproc)" ${1:+--target "$@"}
  (cd "$folder" && rm -f ./*.deb && cpack -D CPACK_COMPONENTS_ALL="$packages" >/dev/null)
  mv "$folder"/*.deb "$out"
}

small="fast-worker-small;libfast;libfast-dev;python3-fast-training"
if $torch; then
  build small "$small" -DFAST_WITH_TORCH=OFF -DFAST_BUILD_BENCH=OFF --
  build torch fast -- fast_program fast-worker fast-compare
else
  build small "fast;$small" -DFAST_WITH_TORCH=OFF -DFAST_BUILD_BENCH=OFF --
fi
ls -s --block-size=k "$out"
