#!/usr/bin/env python3
"""The code in documents: fenced blocks of every README.md and CONTRIBUTING.md, and the examples in
comments of public headers and in docstrings of fast_training, which are indented there.

usage: snippets.py ROOT OUT     writes each into a file of OUT, README.md.cpp.1 for example
"""

import ast
import pathlib
import re
import sys
import textwrap
from collections.abc import Iterator
from typing import NamedTuple

FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
COMMENT = re.compile(r"/\*\*[\s\S]*?\*/|(?:^[ \t]*//.*\n)+", re.M)
INDENTED = re.compile(r"(?:^|\n\n)((?: {4,}\S.*(?:\n|$)|\n(?= {4}))+)")
SOURCES = ("stencil", "fast", "adapters")


class Snippet(NamedTuple):
    """One block of code, known by "DOCUMENT:LANGUAGE:NUMBER", counted from 1."""

    name: str
    text: str

    @property
    def file(self) -> str:
        return self.name.replace("/", "-").replace(":", ".")

    @property
    def code(self) -> str:
        """What runs: a line that is an ellipsis stands for the user's own step (see preludes/)."""
        step = "step()" if ":python:" in self.name else "step();"
        return re.sub(r"^(\s*)\.\.\.( .*)?$", rf"\1{step}", self.text, flags=re.M)


def fenced(text: str) -> Iterator[tuple[str, str]]:
    for language, code in FENCED.findall(text):
        yield language or "unknown", code


def indented(text: str) -> Iterator[str]:
    for block in INDENTED.findall(text + "\n"):
        yield textwrap.dedent(block).strip("\n") + "\n"


def in_comments(header: str) -> Iterator[str]:
    for comment in COMMENT.findall(header):
        mark = r"^\s*(/\*\*|\*/|\*|///?<?) ?"
        yield from indented(re.sub(mark, "", comment, flags=re.M))


def in_docstrings(module: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(module)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from indented(ast.get_docstring(node) or "")


def found_in(path: pathlib.Path) -> Iterator[tuple[str, str]]:
    """(language, code) of each snippet in a file."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        yield from fenced(text)
    elif path.suffix == ".py":
        yield from (("python", code) for code in in_docstrings(text))
    else:
        language = "c" if path.name == "fast.h" else "cpp"
        yield from ((language, code) for code in in_comments(text))


def documents(root: pathlib.Path) -> Iterator[pathlib.Path]:
    """Relative paths of everything that is searched."""
    for folder in (root, *(root / name for name in (*SOURCES, "bench", "examples", "tests"))):
        deep = "" if folder == root else "**/"
        for name in ("README.md", "CONTRIBUTING.md"):
            yield from (path.relative_to(root) for path in sorted(folder.glob(deep + name)))
    for name in SOURCES:
        yield from (path.relative_to(root) for path in sorted((root / name).rglob("*.h")))
    package = root / "adapters" / "python" / "fast_training"
    yield from (path.relative_to(root) for path in sorted(package.rglob("*.py")))


def all_snippets(root: pathlib.Path) -> dict[str, Snippet]:
    """Every snippet of the tree, by its name."""
    snippets = {}
    for document in documents(root):
        count: dict[str, int] = {}
        for language, code in found_in(root / document):
            count[language] = count.get(language, 0) + 1
            name = f"{document}:{language}:{count[language]}"
            snippets[name] = Snippet(name, code)
    return snippets


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    out = pathlib.Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    for snippet in all_snippets(pathlib.Path(sys.argv[1])).values():
        file = out / snippet.file
        if not file.exists() or file.read_text(encoding="utf-8") != snippet.code:
            file.write_text(snippet.code, encoding="utf-8")


if __name__ == "__main__":
    main()
