#!/usr/bin/env bash
# Lays the libraries of another architecture, of this Debian's release, into a folder: what a cross
# compiler builds FAST from, without LibTorch, and what qemu runs it with. Nothing of this machine
# changes: apt works on lists and a status of its own, and packages are unpacked, not installed.
#
# usage: tests/sysroot.sh ARCH FOLDER [PACKAGE...]
#   ARCH     arm64 or armhf
#   FOLDER   becomes the sysroot; what was fetched for it is kept in FOLDER.apt, and both are kept
#            where they are complete already
#   PACKAGE  one more of Debian's, as libtorch-dev and the libopenblas0-openmp that it is run with
set -euo pipefail
if [ $# -lt 2 ] || [[ $1 != arm64 && $1 != armhf ]]; then
  sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0" >&2
  exit 2
fi
arch=$1
mkdir -p "$2" "$2.apt"
root=$(cd "$2" && pwd)
apt=$(cd "$2.apt" && pwd)
here=$(dirname "${BASH_SOURCE[0]}")

# What the product and its tests link, and no tools: those are the host's.
mapfile -t wanted < <("$here/install-packages.sh" --list build test | grep -E -- '-dev$|^libjs-' |
  grep -vE '^lib(torch|gloo|openmpi|benchmark|dlib)-dev$')
wanted+=("libstdc++-$(c++ -dumpversion)-dev" "${@:3}")
if [ "$(cat "$root/.complete" 2>/dev/null)" = "$arch ${wanted[*]}" ]; then exit 0; fi

. /etc/os-release
main=http://deb.debian.org/debian
mkdir -p "$apt/lists/partial" "$apt/archives/partial"
: >"$apt/status"
signed='signed-by=/usr/share/keyrings/debian-archive-keyring.gpg'
cat >"$apt/sources.list" <<END
deb [$signed] $main $VERSION_CODENAME main
deb [$signed] $main $VERSION_CODENAME-updates main
deb [$signed] $main-security $VERSION_CODENAME-security main
END
cat >"$apt/apt.conf" <<END
APT::Architecture "$arch";
APT::Architectures { "$arch"; };
APT::Install-Recommends "false";
APT::Sandbox::User "root";
Acquire::Languages "none";
Acquire::Retries "3";
Dir::State "$apt";
Dir::State::status "$apt/status";
Dir::Cache "$apt";
Dir::Etc::sourcelist "$apt/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
END
echo "Fetching libraries of $arch into $root"
export APT_CONFIG=$apt/apt.conf
if ! apt-get -qq update; then
  echo "Going on without security updates, whose list of $arch the mirror may not have whole"
  sed -i '/-security /d' "$apt/sources.list"
  apt-get -qq update
fi
apt-get -qq -y --download-only install "${wanted[@]}" >/dev/null

rm -rf "$root"
mkdir -p "$root"
for package in "$apt"/archives/*.deb; do dpkg-deb -x "$package" "$root"; done
# Links that are absolute would lead out of the sysroot.
find "$root" -type l -lname '/*' -printf '%P\t%l\n' | while IFS=$'\t' read -r link target; do
  ln -sfnr "$root$target" "$root/$link"
done
# What update-alternatives would have made on the machine itself.
for library in "$root"/usr/lib/*/openblas-*/lib*.so.[03]; do
  if [ -e "$library" ]; then ln -sfr "$library" "$(dirname "$library")/.."; fi
done
echo "$arch ${wanted[*]}" >"$root/.complete"
