#!/usr/bin/env bash
# Checks that every .h and .cc that git does not ignore is formatted as .clang-format says.
#
# usage: tests/checks/format.sh [--fix]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

mapfile -d '' files < <(git ls-files -z --cached --others --exclude-standard -- '*.h' '*.cc')
if [ ${#files[@]} -eq 0 ]; then echo "format.sh: git lists no .h and no .cc here" >&2; exit 1; fi
case "${1:-}" in
  --fix) clang-format-14 -i "${files[@]}" ;;
  "") clang-format-14 --dry-run -Werror "${files[@]}" ;;
  *) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; exit 2 ;;
esac
echo "${#files[@]} files are formatted"
