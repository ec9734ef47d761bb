#!/usr/bin/env python3
"""Checks that programs compiled against an earlier fast.h run with the libfast.so of today.

adapters/c/fast.abi holds what fast.h declared when its ABI got its number, a line for each function,
callback, enumerator and member of a struct. What stands there must stand in fast.h still: of the same
types, values and places. What is new must be recorded too, by --record; what was changed or taken away
needs another ABI: raise `abi` in adapters/c/CMakeLists.txt and SYSTEM_LIBRARY in Python's _library.py,
and record.

usage: c_abi.py LIBRARY | --record LIBRARY | --self-test
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADER = ROOT / "adapters/c/fast.h"
RECORD = ROOT / "adapters/c/fast.abi"
PYTHON = ROOT / "adapters/python/fast_training/_library.py"


def declared(header):
    """The text of fast.h -> a line for whatever a compiled program relies on."""
    text = re.sub(r"/\*.*?\*/", " ", header, flags=re.S)
    text = re.sub(r"^\s*#.*?(?<!\\)$", "", text, flags=re.M).replace('extern "C" {', "")
    lines = []
    for kind, name, body in re.findall(r"typedef (enum|struct) (\w+) \{(.*?)\} \w+;", text, re.S):
        members = [" ".join(member.split()) for member in re.split("[,;]", body) if member.strip()]
        # The place of a struct's member counts, that of an enumerator does not.
        lines += [f"{kind} {name}{f' {place}' if kind == 'struct' else ''}: {member}"
                  for place, member in enumerate(members)]
    text = re.sub(r"typedef (?:enum|struct) \w+ \{.*?\} \w+;", "", text, flags=re.S)
    lines += [" ".join(part.replace("FAST_API", "").split()) for part in text.split(";")]
    return [line for line in lines if line.strip("} ")]


def soname(library):
    shown = subprocess.check_output(["readelf", "-d", library], text=True)
    return re.search(r"SONAME.*\[(.*)\]", shown)[1]


def complaints(recorded, now, name, python):
    """`recorded`, `now`: lines, the first of `recorded` being the library's name."""
    wrong = []
    if recorded[0] != name:
        wrong.append(f"fast.abi is of {recorded[0]}, and the library is {name}: record it anew")
    if f'SYSTEM_LIBRARY = "{name}"' not in python:
        wrong.append(f"the library is {name}, and Python's _library.py asks for another one")
    wrong += [f"changed or gone since {recorded[0]}: {line}; raise the ABI (see the head of "
              "tests/checks/c_abi.py)" for line in recorded[1:] if line not in now]
    wrong += [f"new in fast.h, and not recorded: {line}; run tests/checks/c_abi.py --record LIBRARY"
              for line in now if line not in recorded]
    return wrong


def self_test():
    header = ("#define FAST_API\nextern \"C\" {\ntypedef enum e { A = 0, /**< x, y; */ B = 1 } e;\n"
              "typedef struct s { size_t size; int32_t rank; } s;\nFAST_API int f(s* a,\n  e b);\n}\n")
    lines = declared(header)
    if lines != ["enum e: A = 0", "enum e: B = 1", "struct s 0: size_t size",
                 "struct s 1: int32_t rank", "int f(s* a, e b)"]:
        sys.exit(f"self-test: read {lines}")
    python = 'SYSTEM_LIBRARY = "l.so.0"'
    for old, new, count in [("", "", 0), ("B = 1", "B = 2", 2), ("int32_t rank", "int64_t rank", 2),
                            ("int32_t rank;", "int32_t rank; int32_t more;", 1),
                            ("size_t size; int32_t rank", "int32_t rank; size_t size", 4),
                            ("e b", "e b, int c", 2)]:
        found = complaints(["l.so.0", *lines], declared(header.replace(old, new)), "l.so.0", python)
        if len(found) != count:
            sys.exit(f"self-test: {new!r} for {old!r}: wanted {count}, found {found}")
    if len(complaints(["l.so.0", *lines], lines, "l.so.1", python)) != 2:
        sys.exit("self-test: another name is not noticed")


def main():
    arguments = sys.argv[1:]
    if arguments == ["--self-test"]:
        return self_test()
    record = arguments[:1] == ["--record"]
    if len(arguments) != 1 + record:
        sys.exit(__doc__)
    name, now = soname(arguments[-1]), declared(HEADER.read_text(encoding="utf-8"))
    if record:
        RECORD.write_text("\n".join([name, *now]) + "\n", encoding="utf-8")
        return
    recorded = RECORD.read_text(encoding="utf-8").splitlines()
    wrong = complaints(recorded, now, name, PYTHON.read_text(encoding="utf-8"))
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"{len(now)} declarations of {name}")


if __name__ == "__main__":
    main()
