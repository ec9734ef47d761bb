#!/usr/bin/env python3
"""Checks the exports and the dependencies of libfast.so.

usage: c_library.py LIBRARY HEADER

It exports the functions that HEADER declares and nothing else, and needs no deep-learning framework.
Reads the library by binutils' nm and readelf.
"""
import re
import subprocess
import sys

DECLARED = re.compile(r"^FAST_API\s[^;(]*?\b(fast_\w+)\s*\(", re.M)
NEEDED = re.compile(r"\(NEEDED\)\s.*\[(.*)\]")
FRAMEWORK = re.compile(r"^lib(torch|c10|caffe2|tensorflow|mxnet|cudart)")


def output(*command):
    return subprocess.run(command, check=True, text=True, capture_output=True).stdout


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    library, header = sys.argv[1:]
    with open(header, encoding="utf-8") as text:
        declared = set(DECLARED.findall(text.read()))
    symbols = output("nm", "-D", "--defined-only", "--format=posix", library)
    exported = {line.split()[0] for line in symbols.splitlines()}
    needed = NEEDED.findall(output("readelf", "-d", library))
    wrong = [f"exported, but not declared: {name}" for name in sorted(exported - declared)]
    wrong += [f"declared, but not exported: {name}" for name in sorted(declared - exported)]
    wrong += [f"needs a framework: {name}" for name in needed if FRAMEWORK.match(name)]
    print("\n".join(wrong + [f"{len(declared)} functions, {len(needed)} libraries needed, "
                             f"{len(wrong)} wrong"]))
    return 1 if wrong or not declared or not needed else 0


if __name__ == "__main__":
    sys.exit(main())
