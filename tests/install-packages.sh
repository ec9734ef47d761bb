#!/usr/bin/env bash
# Installs the Debian packages that FAST needs and this machine lacks. The one list of packages, whose
# names are those of Debian 12 (bookworm) and 13 (trixie).
#
# usage: tests/install-packages.sh [--list] GROUP...
#   build  what the libraries and programs are built from
#   python   Debian's Python with PyTorch and venv, for programs of one's own
#   test   what the tests, the benchmarks and their checks need on top
#   cluster  what the tests labelled cluster need on top: Slurm
#   cross    what builds for arm64 and armhf take on top, and qemu to run them; see tests/sysroot.sh
#   deb    what .ci/run's steps deb and boards need on top: chroots, lintian, systemd-nspawn
#   ci     what .ci/run needs on top: clang for fuzzers and format, a quick linker, unpacking of CIFAR-10; bookworm's
# With --list prints the names and installs nothing.
set -euo pipefail

build=(build-essential cmake ninja-build ccache pkg-config
       libtorch-dev libboost-dev libcli11-dev libspdlog-dev libfmt-dev
       libxxhash-dev libhwy-dev libsodium-dev libssl-dev nlohmann-json3-dev libtomlplusplus-dev libprotobuf-dev protobuf-compiler zlib1g-dev libpng-dev libjpeg62-turbo-dev
       cppzmq-dev libzmq3-dev libopenblas0-openmp
       libjs-chart.js)
test=(faketime libgtest-dev libgmock-dev libbenchmark-dev libgloo-dev libopenmpi-dev libdlib-dev
      openmpi-bin python3 python3-numpy python3-torch iproute2 systemd)
python=(python3 python3-torch python3-venv)
cluster=(slurmctld slurmd slurm-client)
cross=(crossbuild-essential-arm64 crossbuild-essential-armhf qemu-user)
deb=(debootstrap lintian systemd-container xz-utils)
ci=(lld clang-14 clang-format-14 libclang-rt-14-dev python3-pil python3-venv git)

usage() { sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; }

list=false
wanted=()
for argument in "$@"; do
  case "$argument" in
    --list) list=true ;;
    build) wanted+=("${build[@]}") ;;
    test) wanted+=("${test[@]}") ;;
    python) wanted+=("${python[@]}") ;;
    cluster) wanted+=("${cluster[@]}") ;;
    cross) wanted+=("${cross[@]}") ;;
    deb) wanted+=("${deb[@]}") ;;
    ci) wanted+=("${ci[@]}") ;;
    -h | --help) usage; exit 0 ;;
    *) echo "install-packages.sh: unknown group '$argument'; known are build, python, test, cluster, cross, deb and ci" >&2; exit 2 ;;
  esac
done
if [ ${#wanted[@]} -eq 0 ]; then usage >&2; exit 2; fi
if $list; then printf '%s\n' "${wanted[@]}"; exit 0; fi
if ! command -v dpkg-query >/dev/null; then
  echo "install-packages.sh: this is no Debian; install by other means: ${wanted[*]}" >&2
  exit 1
fi

release=$(. /etc/os-release && echo "${VERSION_CODENAME:-unknown}")
case "$release" in
  bookworm) ;;
  trixie)
    for package in "${wanted[@]}"; do
      if [ "$package" = clang-14 ]; then
        echo "install-packages.sh: group ci is for bookworm (Debian 12) alone: this is trixie," \
          "which has no clang-14" >&2
        exit 1
      fi
    done
    ;;
  *)
    echo "install-packages.sh: tried on bookworm and trixie (Debian 12 and 13); this is $release," \
      "whose packages may be called otherwise" >&2
    ;;
esac

missing=()
for package in "${wanted[@]}"; do
  status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then exit 0; fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "install-packages.sh: not root and no sudo; as root: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi
echo "Installing ${missing[*]}"
"${as_root[@]}" apt-get -qq update
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends \
  -o Dpkg::Use-Pty=0 install "${missing[@]}" </dev/null >/dev/null
