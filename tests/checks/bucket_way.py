#!/usr/bin/env python3
"""Checks the list of functions in stencil/README.md's "One bucket, there and back".

usage: bucket_way.py ROOT
       bucket_way.py --self-test

Each row names a file (below stencil/, or below the root) and functions in it; a name with a capital is an
action that the file carries out. Every file must be there and have the functions, and the numbers that the
section gives must be those of its lists.
"""
import pathlib
import re
import sys

ROW = re.compile(r"^ {6}([\w./]+\.(?:cc|h))\s+(\w[\w, ]*?)\s*(?:->.*)?$", re.M)
NUMBERS = re.compile(r"(\d+)\s+functions\s+in\s+(\d+)\s+files")


def section_of(text):
    return text.split("## One bucket, there and back", 1)[1].split("\nAn edge, as one end sees it", 1)[0]


def breaches(section, read):
    """What is wrong, a line each. `read` gives a file's text, or None."""
    found = []
    for way in section.split("In shared memory"):
        rows = [(file, names.split(", ")) for file, names in ROW.findall(way)]
        for file, names in rows:
            text = read(file)
            for name in names if text is not None else ():
                pattern = rf"operator\(\)\((?:const )?action::{name}\b|apply\(const action::{name}\b" \
                    if name[0].isupper() else rf"\b{name}\("
                if not re.search(pattern, text):
                    found.append(f"{file} has no {name}")
            if text is None:
                found.append(f"there is no {file}")
        counted = (sum(len(names) for _, names in rows), len({file for file, _ in rows}))
        told = NUMBERS.search(way)
        if told is None or tuple(map(int, told.groups())) != counted:
            found.append("the list has {} functions in {} files; the text says otherwise".format(*counted))
    return found


def self_test():
    files = {"a.cc": "void A::f(int) {}\nvoid E::operator()(action::Send& s) {}", "b.h": "int g() {}"}
    good = "3 functions in 2 files:\n      a.cc   f, Send   -> action\n      b.h    g\n"
    bad = (good.replace(" f,", " h,"), good.replace("Send", "Answer"), good.replace("b.h", "c.h"),
           good.replace("3 fun", "2 fun"), good.replace("2 files", "3 files"))
    wrong = [text for text in (good, good + "In shared memory " + good) if breaches(text, files.get)]
    wrong += [text for text in bad if len(breaches(text, files.get)) != 1]
    print(f"{len(bad)} bad and 2 good examples, {len(wrong)} wrong")
    return bool(wrong)


def main(root):
    def read(file):
        for path in (root / "stencil" / file, root / file):
            if path.is_file():
                return path.read_text()
        return None

    found = breaches(section_of((root / "stencil/README.md").read_text()), read)
    print("\n".join(f"stencil/README.md: {text}" for text in found))
    return bool(found)


if __name__ == "__main__":
    sys.exit(self_test() if sys.argv[1:] == ["--self-test"] else main(pathlib.Path(sys.argv[1])))
