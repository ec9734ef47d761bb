#!/usr/bin/env python3
"""Checks that documents which list modes, codecs, transports or topologies list all of them.

usage: listed_names.py ROOT BIN     ROOT: source tree, BIN: folder of fast-worker
       listed_names.py --self-test

The program's lists are the ones in the code: it names them where it refuses a value. A passage is a
paragraph or a table row, known by how it begins. Each form that the program takes, without what it
says of its range ("bounded:K with K >= 1"), must stand in the passage, between backquotes or not.
"""
import pathlib
import re
import subprocess
import sys

LISTS = {  # how fast-worker is brought to list them, and the words before the list
    "modes": (["--topology", "ring:2", "--mode", "none"], "; use "),
    "codecs": (["--topology", "ring:2", "--codec", "none"], "; use one of "),
    "transports": (["--topology", "ring:2", "--transport", "none"], "; use one of "),
    "topologies": (["--topology", "none:2"], "; valid forms are "),
}
PASSAGES = (  # document, how the passage begins, its list, forms that it leaves out on purpose
    ("README.md", "`--help` lists every option", "topologies", ()),
    ("stencil/README.md", "`async` is the above.", "modes", ()),
    ("fast/session/README.md", "| `mode` |", "modes", ()),
    ("fast/session/README.md", "| `codec` |", "codecs", ()),
    ("fast/session/README.md", "| `transport` |", "transports", ()),
    ("adapters/python/fast_training/_option_types.py", "    mode:", "modes", ()),
    ("adapters/python/fast_training/_option_types.py", "    transport:", "transports", ()),
    ("bench/README.md", "`fast-compare` trains one job", "modes", ()),
)
FORM = re.compile(r"[a-z][a-z0-9]*(?::[\w.\[\]:,|]*[\w\]])?(?:\[[^\]]*\]+)?")


def forms_of(text):
    """The forms in "use one of a, b:K with K >= 1, or c (how)": a, b:K, c."""
    text = re.sub(r"\([^)]*\)", "", text)
    forms = []
    for part in re.split(r",\s+(?:or\s+)?|\s+or\s+", text):
        found = FORM.match(part.strip())
        if found and not part.startswith("e.g."):
            forms.append(found.group())
    return forms


def listed(program, arguments, before):
    run = subprocess.run([program, "--rank", "0", *arguments], text=True, capture_output=True,
                         timeout=60, stdin=subprocess.DEVNULL, check=False)
    line = next((line for line in run.stderr.splitlines() if before in line), None)
    if line is None:
        sys.exit(f"{program} {' '.join(arguments)} lists nothing: {run.stderr}")
    return forms_of(line.split(before, 1)[1])


def passage(text, begin):
    """Up to the next empty line; of a table or a list of options, up to the next entry."""
    at = text.find("\n" + begin)
    if at < 0:
        return None
    end = {"|": r"\n\n|\n\|", " ": r"\n\n|\n    \w+:"}.get(begin[0], r"\n\n")
    rest = text[at + 1:]
    found = re.search(end, rest)
    return " ".join((rest[:found.start()] if found else rest).split())


def missing(forms, text):
    words = re.split(r"[\s`(),;]+", text)
    return [form for form in forms if not any(
        re.search(rf"(?<![\w:]){re.escape(form)}(?!\w|\[|:\S)", word) for word in words)]


def problems(lists, passages, read):
    for document, begin, which, left_out in passages:
        text = passage(read(document), begin)
        if text is None:
            yield f"{document}: no passage begins with {begin!r}"
            continue
        for form in missing([form for form in lists[which] if form not in left_out], text):
            yield f"{document}: {begin!r} does not name {form}, one of the {which}"


def self_test():
    told = "async, bounded:K with K >= 1, or sync"
    assert forms_of(told) == ["async", "bounded:K", "sync"], forms_of(told)
    told = "fp32, topk:F with 0 < F <= 0.5, e.g. topk:0.01"
    assert forms_of(told) == ["fp32", "topk:F"], forms_of(told)
    told = "ring:N, torus:AxB[xC][:moore], edges:FILE"
    assert forms_of(told) == ["ring:N", "torus:AxB[xC][:moore]", "edges:FILE"], forms_of(told)
    told = "synthetic[:TRAIN[,TEST]] (generated), cifar10:DIR (binary format)"
    assert forms_of(told) == ["synthetic[:TRAIN[,TEST]]", "cifar10:DIR"], forms_of(told)
    document = "\n| `mode` | async | `bounded:K`: late; `sync` |\n| `codec` | x |\n\nGone `a`.\n"
    lists = {"modes": ["async", "bounded:K", "sync"]}
    row = ("d", "| `mode` |", "modes", ())
    assert not list(problems(lists, [row], lambda _: document))
    assert list(problems({"modes": ["async", "other"]}, [row], lambda _: document))
    assert list(problems({"modes": ["bounded"]}, [row], lambda _: document))
    assert list(problems(lists, [("d", "| `none` |", "modes", ())], lambda _: document))
    assert list(problems(lists, [("d", "| `codec` |", "modes", ())], lambda _: document))


def main():
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        return 0
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    root, programs = map(pathlib.Path, sys.argv[1:])
    lists = {name: listed(programs / "fast-worker", *how) for name, how in LISTS.items()}
    wrong = list(problems(lists, PASSAGES, lambda name: (root / name).read_text(encoding="utf-8")))
    print("\n".join(wrong or [f"{len(PASSAGES)} passages name all of {lists}"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
