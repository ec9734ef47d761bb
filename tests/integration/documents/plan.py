"""What does not run as it stands in a document, and why: the one list. All else runs.

A snippet is known by "DOCUMENT:LANGUAGE:NUMBER". listed_test.py fails where a snippet is neither
run by a test nor named here, and where a name here is no snippet any more.
"""

# Whole snippets that no test runs.
NOT_RUN = {
    "CONTRIBUTING.md:sh:1": "the tests themselves and steps of CI",
    "CONTRIBUTING.md:sh:2": "installs libraries of another architecture and builds for minutes",
    "adapters/python/README.md:sh:1": "builds the library for minutes; `.ci/run wheel` does it",
    "adapters/python/README.md:sh:2": "likewise, and takes auditwheel from PyPI",
    "bench/peers/README.md:sh:1": "takes 5 GB from PyPI, and measures for minutes",
    "examples/container/README.md:sh:1": "builds for minutes, and takes an image from a registry",
    **{
        f"examples/edge/README.md:sh:{k}": "needs four boards; `.ci/run boards` boots them"
        for k in range(1, 7)
    },
    "fast/session/README.md:sh:3": "needs Slurm; tests/integration/cluster has fast-worker by it",
    "fast/momentum.h:cpp:1": "a formula",
    "fast/model/averaged_at_end.h:cpp:1": "a formula",
    "stencil/core/followers.h:cpp:1": "a formula",
    "fast/train/flat_optimizer.h:cpp:1": "an order of calls",
    "adapters/python/fast_training/_torch_momentum.py:python:1": "a formula",
    "fast/options/key_files.h:cpp:1": "the grammar of a file",
    "stencil/core/option_field.h:cpp:1": "the declaration that each struct of options makes true",
    "stencil/engine/engine.h:cpp:1": "a list of the engine's parts",
    "stencil/runtime/step_boundary.h:cpp:1": "an order of calls",
    "stencil/runtime/step_boundary.h:cpp:2": "phases, and what they wait for",
    "stencil/runtime/journal.h:cpp:1": "the layout of a file",
    "stencil/shared/unix_meeting.h:cpp:1": "what goes over a socket, in which order",
}

# Commands of shell snippets, by how they begin, that are left out where the others run.
BUILDS = "installs or builds, for minutes: `.ci/run` does that from a clean clone"
LEFT_OUT = {
    "README.md:sh:1": {
        "examples/quickstart.sh": BUILDS,
        "tests/run.sh": "runs this test",
    },
    "README.md:sh:2": {
        "tests/install-packages.sh": BUILDS,
        "/usr/bin/python3 -m venv": BUILDS,
    },
    "README.md:sh:3": {
        "tests/install-packages.sh": BUILDS,
        "cmake --build build": BUILDS,
    },
    "examples/own_worker/README.md:sh:1": {
        "cmake -B build": BUILDS,
    },
    "README.md:sh:5": {
        "fast-compare --quick": "five minutes of training",
    },
    "bench/README.md:sh:1": {
        "build/bin/fast-compare --quick": "five minutes of training",
        "build/bin/fast-compare bench/specs/unequal.toml --cifar10 DIR": "weeks of training",
    },
}
