#!/usr/bin/env bash
# Runs every fuzz target for a while, as many at once as there are cores. New inputs go to a
# scratch folder: the committed corpus is read, never written. What crashed is copied beside the
# log and its path is printed.
#
# usage: tests/checks/fuzz.sh BUILD_DIR [NAME...]
#   NAME                engine or engine_fuzz; without one: all
#   FAST_FUZZ_SECONDS   seconds for each target (5)
#   FAST_FUZZ_JOBS      how many at once (the number of cores)
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

if [ $# -lt 1 ] || [ "$1" = --help ]; then
  sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"
  exit 2
fi
build=$(cd "$1" && pwd)
shift
seconds=${FAST_FUZZ_SECONDS:-5}
jobs=${FAST_FUZZ_JOBS:-$(nproc)}
results=$build/fuzz-results
rm -rf "$results"
mkdir -p "$results"

fuzz_one() {
  local target=$1 name scratch rc=0
  name=$(basename "$target")
  local seeds=$root/tests/fuzz/corpus/${name%_fuzz}
  scratch=$results/$name
  mkdir -p "$scratch/corpus"
  if [ -z "$(ls -A "$seeds" 2>/dev/null)" ]; then
    echo "$name: no seeds in tests/fuzz/corpus/${name%_fuzz}"
    echo fail >"$scratch/verdict"
    return
  fi
  "$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=65536 \
    -print_final_stats=1 -artifact_prefix="$scratch/" "$scratch/corpus" "$seeds" \
    >"$scratch/log" 2>&1 </dev/null || rc=$?
  if [ $rc -eq 0 ]; then
    echo pass >"$scratch/verdict"
    echo "$name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$scratch/log") inputs in" \
      "${seconds} s, $(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$scratch/log" | tail -1) edges"
  else
    echo fail >"$scratch/verdict"
    echo "$name: FAILED with exit code $rc; the end of $scratch/log:"
    tail -n 60 "$scratch/log"
    for artifact in "$scratch"/{crash,oom,timeout,leak}-*; do
      [ -f "$artifact" ] || continue
      echo "$artifact in base64:"
      head -c 4096 "$artifact" | base64
    done
  fi
}

targets=()
for target in "$build"/fuzz/*_fuzz; do
  [ -x "$target" ] || continue
  name=$(basename "$target")
  if [ $# -eq 0 ] || [[ " $* " == *" $name "* || " $* " == *" ${name%_fuzz} "* ]]; then
    targets+=("$target")
  fi
done
if [ ${#targets[@]} -eq 0 ]; then
  echo "fuzz.sh: no fuzz target${1:+ called ${*}} in $build/fuzz; build with: cmake --build --preset fuzz" >&2
  exit 1
fi
for target in "${targets[@]}"; do
  while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n || true; done
  fuzz_one "$target" &
done
wait
passed=$(cat "$results"/*/verdict | grep -c pass || true)
echo "$passed of ${#targets[@]} fuzz targets passed"
[ "$passed" -eq ${#targets[@]} ]
