#!/usr/bin/env bash
# Runs the contract of sessions and an example over frameworks from PyPI, each in an environment of
# its own.
#
# usage: tests/frameworks.sh [--list] [NAME...]     without a name: all of them
#
# An environment is made once, in FAST_FRAMEWORKS_DIR (~/.cache/fast-frameworks), by FAST_PYTHON
# (python3). libfast.so is FAST_LIBRARY's, or that of build/. A framework that cannot be installed is
# named as not run. The exit code is 1 where one failed.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=${FAST_FRAMEWORKS_DIR:-$HOME/.cache/fast-frameworks}
python=${FAST_PYTHON:-python3}
export FAST_LIBRARY=${FAST_LIBRARY:-$root/build/adapters/c/libfast.so}
export PYTHONPATH=$root/adapters/python PYTHONDONTWRITEBYTECODE=1

# NAME: what pip installs. Any version serves, but for two that are not developed any more and whose
# NumPy has wheels for CPython up to 3.11.
declare -A packages=(
  [numpy]="numpy"
  [sklearn]="scikit-learn"
  [jax]="jax"
  [keras]="keras jax"
  [torch]="torch numpy"
  [tensorflow]="tensorflow-cpu"
  [paddle]="paddlepaddle setuptools"
  [pytensor]="pytensor"
  [trainers]="torch numpy lightning transformers accelerate"
  [mxnet]="mxnet==1.9.1 numpy==1.23.5"
  [chainer]="--no-build-isolation chainer==7.8.1 numpy==1.23.5"
)
# NAME: what must be there before, to build it.
declare -A builders=([chainer]="setuptools<70 wheel")
all=(numpy sklearn jax keras torch trainers tensorflow paddle pytensor mxnet chainer)
# NAME: its examples, where they are not NAME_classifier.py.
declare -A examples=([trainers]="lightning_classifier.py transformers_gpt.py")

case "${1:-}" in
  -h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; exit 0 ;;
  --list) printf '%s\n' "${all[@]}"; exit 0 ;;
esac
names=("$@")
if [ ${#names[@]} -eq 0 ]; then names=("${all[@]}"); fi
for name in "${names[@]}"; do
  if [ -z "${packages[$name]:-}" ]; then
    echo "frameworks.sh: unknown framework '$name'; known are ${all[*]}" >&2
    exit 2
  fi
done
if [ ! -e "$FAST_LIBRARY" ]; then
  echo "frameworks.sh: no $FAST_LIBRARY; build the target fast_c, or set FAST_LIBRARY" >&2
  exit 2
fi

# install NAME: its environment, if it is not there and complete.
install() {
  local folder=$cache/$1
  if [ -e "$folder/complete" ]; then return 0; fi
  rm -rf "$folder"
  mkdir -p "$cache"
  "$python" -m venv "$folder" || return 1
  # shellcheck disable=SC2086
  if [ -n "${builders[$1]:-}" ]; then
    "$folder/bin/pip" -q install ${builders[$1]} || return 1
  fi
  # shellcheck disable=SC2086
  "$folder/bin/pip" -q install ${packages[$1]} && touch "$folder/complete"
}

# run NAME: its contract, and its examples where it has any.
run() {
  local interpreter=$cache/$1/bin/python example
  cd "$root/tests/frameworks" || return 1
  for test in "$1"_*test.py; do
    timeout 300 "$interpreter" -W ignore "$test" || return 1
  done
  cd "$root/examples/embed_python" || return 1
  for example in ${examples[$1]:-$1_classifier.py}; do
    if [ ! -e "$example" ]; then continue; fi
    timeout 300 "$interpreter" -W ignore two_workers.py "$example" || return 1
  done
}

export KERAS_BACKEND=${KERAS_BACKEND:-jax} TF_CPP_MIN_LOG_LEVEL=2
summary=()
failed=0
for name in "${names[@]}"; do
  printf '\n==== %s\n' "$name"
  if ! install "$name" </dev/null; then
    summary+=("$name: not run, since pip could not install ${packages[$name]}")
  elif (run "$name") </dev/null; then
    summary+=("$name: passed")
  else
    summary+=("$name: FAILED")
    failed=1
  fi
done
printf '\n'
printf '%s\n' "${summary[@]}"
exit $failed
