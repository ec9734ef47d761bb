#!/usr/bin/env bash
# Installs Debian's packages in a chroot as a user would, runs what they bring, removes and purges them,
# and checks that nothing of theirs is left. As root.
#
# usage: tests/packages/chroot.sh DEBS RELEASE     DEBS: a folder of them; RELEASE: bookworm, trixie ..
# The chroot's system is that of base_system.sh, under an overlay in memory.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
if [ $# -ne 2 ]; then sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0" >&2; exit 2; fi
debs=$(cd "$1" && pwd)
release=$2
base=$(tests/packages/base_system.sh "$release")

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# What happens inside, in /debs, where the packages are.
cat >"$scratch/inside" <<'EOF'
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
quietly() { "$@" >/tmp/said 2>&1 </dev/null || { cat /tmp/said; echo "failed: $*"; exit 1; }; }
apt_install() { quietly apt-get -y --no-install-recommends install "$@"; }
trap 'echo "failed in line $LINENO: $BASH_COMMAND"; cat /tmp/said' ERR
stage() { echo "-- $*"; }
as_fast() { setpriv --reuid fast --regid fast --clear-groups -- "$@"; }
quietly apt-get update

stage "the small worker: installed, run as its user, with the options of a unit"
apt_install /debs/fast-worker-small_*.deb
fast-worker --version
[ -d /etc/fast ] && getent passwd fast
install -d -o fast /tmp/run
as_fast env FAST_TOPOLOGY=ring:1 FAST_RANK=0 FAST_MODEL=linear FAST_DATA=synthetic:512,128 \
  FAST_EPOCHS=3 FAST_OUT=/tmp/run fast-worker --quiet
[ -s /tmp/run/worker-0/model.safetensors ]

stage "all programs, in its place"
files=$(dpkg -L fast-worker-small)
apt_install /debs/fast_*.deb
[ "$(dpkg-query -W -f '${db:Status-Status}' fast-worker-small)" != installed ]
fast --version
fast train --topology ring:2 --model linear --data synthetic:512,128 --epochs 3 --quiet --out /tmp/two >/tmp/said
[ -s /tmp/two/mean.safetensors ]
if [ -e /usr/bin/fast-compare ]; then fast-compare --version; fi

stage "the library, for C and Python"
apt_install /debs/libfast_*.deb /debs/libfast-dev_*.deb /debs/python3-fast-training_*.deb gcc libc6-dev
# shellcheck disable=SC2046
cc -std=c99 /tmp/embed_c.c -o /tmp/embed_c $(pkg-config --cflags --libs fast) -lm
timeout 120 /tmp/embed_c </dev/null
python3 -c 'import fast_training; print("fast_training", fast_training.__version__)'

stage "removed, and then purged: nothing is left but what people have made"
ours=(fast fast-worker-small libfast libfast-dev python3-fast-training)
files+=$'\n'$(dpkg -L fast libfast libfast-dev python3-fast-training)
touch /etc/fast/mine.conf
quietly apt-get -y remove "${ours[@]}"
getent passwd fast >/dev/null
dpkg --purge "${ours[@]}" >/tmp/said 2>&1
grep "/etc/fast is kept" /tmp/said
left=$(while read -r file; do if [ -f "$file" ]; then echo "$file"; fi; done <<<"$files")
for folder in /usr/lib/python3/dist-packages/fast_training /usr/share/fast-training; do
  if [ -e $folder ]; then left+=" $folder"; fi
done
if [ -n "$left" ]; then echo "left after the purge: $left"; exit 1; fi
if dpkg -l "${ours[@]}" 2>/dev/null | grep -E '^(ii|rc)'; then exit 1; fi
EOF

mkdir "$scratch/system"
unshare --mount --fork bash -c '
  set -e
  scratch=$1 base=$2 debs=$3 system=$1/system
  mount -t tmpfs tmpfs "$scratch/system"
  mkdir "$system/"{upper,work,root}
  mount -t overlay overlay -o "lowerdir=$base/root,upperdir=$system/upper,workdir=$system/work" \
    "$system/root"
  root=$system/root
  mount -t proc proc "$root/proc"
  mount --rbind /dev "$root/dev"
  mkdir "$root/debs"
  mount --bind "$debs" "$root/debs"
  mount --bind "$base/archives" "$root/var/cache/apt/archives"
  rm -f "$root/etc/apt/apt.conf.d/docker-clean"
  cp -L /etc/resolv.conf "$root/etc/resolv.conf"
  cp "$scratch/inside" examples/embed_c/embed_c.c "$root/tmp/"
  timeout 1800 chroot "$root" env -i HOME=/root LANG=C.UTF-8 \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin bash /tmp/inside
' bash "$scratch" "$base" "$debs"
echo "installed, run, removed and purged on $release"
