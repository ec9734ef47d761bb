#!/usr/bin/env python3
"""Checks that the list of packages includes everything that a build reads.

A developer's machine has more packages than tests/install-packages.sh names, so a missing name may
be noticed only on a fresh machine. This check asks ninja for the headers of each object file and
dpkg for the packages of those headers: each must belong to a package of the list or to one of its
dependencies. Libraries and programs may use only group `build`; tests, benchmarks and adapters that a
user need not have `build` and `test`.

usage: packages.py BUILD_DIR | --self-test
"""
import glob
import os
import re
import subprocess
import sys

# What may be made from group `test`: tests, and what is built only where its package is found.
FROM_TEST = ("tests/", "bench/", "adapters/dlib/")
LIST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "install-packages.sh")


def listed(*groups):
    return set(subprocess.check_output(["bash", LIST, "--list", *groups], text=True).split())


def headers_of(deps):
    """Output of `ninja -t deps` -> {object file: system headers, without the compiler's own}."""
    headers, target = {}, None
    for line in deps.splitlines():
        entry = re.match(r"(\S+): #deps \d+,.*\((VALID|STALE)\)$", line)
        if entry:
            compiled = entry[1].endswith((".o", ".gch"))  # newer CMakes list linked files too
            target = entry[1] if entry[2] == "VALID" and compiled else None
        elif target and re.match(r"    /usr/(?!lib/gcc/|lib/llvm)", line):
            headers.setdefault(target, set()).add(os.path.realpath(line.strip()))
    return headers


def owners(files):
    """file -> package, by dpkg's own lists; files of no package are left out."""
    owner = {}
    for path in glob.glob("/var/lib/dpkg/info/*.list"):
        package = os.path.basename(path)[:-len(".list")].split(":")[0]
        with open(path, encoding="utf-8") as file:
            for line in file.read().splitlines():
                if line in files:
                    owner[line] = package
    return owner


def names(relations):
    """The packages of a Depends line; of alternatives, all."""
    return re.findall(r"(?:^|[,|])\s*([a-z0-9][a-z0-9+.-]*)", relations)


def installed_relations():
    """package -> its dependencies; a virtual package -> its providers."""
    relations = {}
    shown = subprocess.check_output(
        ["dpkg-query", "-W", "-f", "${Package}\t${Pre-Depends}, ${Depends}\t${Provides}\n"],
        text=True)
    for package, depends, provides in (line.split("\t") for line in shown.splitlines()):
        relations.setdefault(package, set()).update(names(depends))
        for name in names(provides):
            relations.setdefault(name, set()).add(package)
    return relations


def closure(packages, relations):
    reached, left = set(), list(packages)
    while left:
        package = left.pop()
        if package not in reached:
            reached.add(package)
            left.extend(relations.get(package, ()))
    return reached


def complaints(headers, owner, relations, build, test):
    by_build, by_test = closure(build, relations), closure(build | test, relations)
    found = {}
    for target in sorted(headers):
        for_tests = target.startswith(FROM_TEST)
        for header in sorted(headers[target]):
            package = owner.get(header)
            if package and package not in (by_test if for_tests else by_build):
                group = "test" if for_tests else "build"
                found.setdefault(
                    (package, group), f"{target} is made from {header} of {package}, which "
                    f"tests/install-packages.sh does not install: add it to '{group}'")
    return list(found.values())


def self_test():
    deps = ("bench/a.o: #deps 3, deps mtime 1 (VALID)\n    ../a.h\n    /usr/include/zmq.hpp\n"
            "    /usr/lib/gcc/x/stddef.h\n\n"
            "stencil/b.o: #deps 1, deps mtime 1 (VALID)\n    /usr/include/gtest.h\n\n"
            "bin/b: #deps 1, deps mtime 1 (VALID)\n    /usr/lib/libzmq.so\n\n"
            "gone.o: #deps 1, deps mtime 1 (STALE)\n    /usr/include/gone.h\n")
    headers = headers_of(deps)
    owner = {"/usr/include/zmq.hpp": "cppzmq-dev", "/usr/include/gtest.h": "gtest",
             "/usr/lib/libzmq.so": "libzmq", "/usr/include/gone.h": "gone", "/usr/lib/gcc/x/stddef.h": "gcc"}
    relations = {"zmq-all": set(names("libc6 (>= 2.1), libx | cppzmq-dev (= 4)")), "gtest": set()}
    for build, test, expected in [({"gtest"}, {"zmq-all"}, 0), ({"gtest"}, set(), 1),
                                  (set(), {"gtest", "cppzmq-dev"}, 1), (set(), set(), 2)]:
        found = complaints(headers, owner, relations, build, test)
        if len(found) != expected:
            sys.exit(f"self-test: build {build}, test {test}: wanted {expected}, found {found}")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    headers = headers_of(
        subprocess.check_output(["ninja", "-C", sys.argv[1], "-t", "deps"], text=True))
    if not headers:
        sys.exit(f"{sys.argv[1]} holds no object file: build first")
    owner = owners(set().union(*headers.values()))
    found = complaints(headers, owner, installed_relations(), listed("build"), listed("test"))
    if found:
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main()
