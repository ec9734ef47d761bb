#!/usr/bin/env bash
# Builds Debian's packages of this machine's release and architecture, from two builds: fast of one
# with LibTorch, the others of one without.
#
# usage: tests/packages/build.sh [--without-torch | --cross ARCH] OUT
#   --without-torch   fast, too, of the build without LibTorch: quicker, and for machines that have none
#   --cross ARCH      those of another architecture, without LibTorch: arm64; needs FAST_SYSROOT, and
#                     this machine's packages in OUT
# The packages are in OUT, where those of the same architecture are replaced; the builds are kept in
# build-deb/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

torch=true
cross=
case "${1:-}" in
  --without-torch) torch=false; shift ;;
  --cross) cross=${2:-}; shift 2 ;;
esac
if [ $# -ne 1 ]; then sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0" >&2; exit 2; fi
mkdir -p "$1"
out=$(cd "$1" && pwd)
rm -f "$out"/*_"${cross:-$(dpkg --print-architecture)}".deb
# The builds compile most files alike: by relative paths ccache finds them again.
export CCACHE_BASEDIR=$PWD

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
if [ -n "$cross" ]; then
  build "small-$cross" "fast;fast-worker-small;libfast;libfast-dev" -DFAST_WITH_TORCH=OFF \
    -DFAST_BUILD_BENCH=OFF -DCMAKE_TOOLCHAIN_FILE="$PWD/fast/package/$cross.cmake" \
    -DFAST_DEB_LIKE="$out" --
elif $torch; then
  build small "$small" -DFAST_WITH_TORCH=OFF -DFAST_BUILD_BENCH=OFF --
  build torch fast -- fast_program fast-worker fast-compare
else
  build small "fast;$small" -DFAST_WITH_TORCH=OFF -DFAST_BUILD_BENCH=OFF --
fi
ls -s --block-size=k "$out"
