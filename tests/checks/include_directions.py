#!/usr/bin/env python3
"""Checks what the compiler does not: include directions, and content that no file may have.

usage: include_directions.py ROOT     check a source tree
       include_directions.py --self-test

Prints one line per breach, "file:line: rule", and exits 1 where there is one. The self-test
runs the check on one bad example per rule and requires that exactly that rule is named.
"""
import os
import re
import sys
import tempfile

ROOMS = ("stencil", "fast", "adapters", "tests", "examples", "bench", "proto", "cmake", ".ci")
CODE = (".h", ".cc")
TEXT = CODE + (".py", ".sh", ".cmake", ".proto", "CMakeLists.txt")
MAX_LINES = 450
MAX_PURE_VIRTUALS = 7

# The layers that each layer of stencil/ may include, beside itself.
LAYERS = {
    "core": (),
    "codec": ("core",),
    "wire": ("core",),
    "neighbour": ("core",),
    "engine": ("core", "mix", "neighbour"),  # of mix/ the names of codecs
    "threads": ("core",),
    "io": ("core", "threads"),
    "shared": ("core",),
    "mix": ("core", "threads", "codec", "shared"),
    "transport": ("core", "threads", "io"),
    "runtime": ("core", "threads", "codec", "shared", "mix", "wire", "neighbour", "engine", "io",
                "transport"),
}
LAYERS["sim"] = LAYERS["runtime"] + ("runtime",)

# The rooms (folders) that each room of fast/ may include, beside itself and headers outside rooms.
FAST_ROOMS = {
    "run": (),
    "checkpoint": ("run",),
    "model": ("checkpoint", "run"),
    "options": (),
    "session": ("options", "checkpoint", "model", "run"),
    "data": (),
    "train": ("options", "session", "checkpoint", "data", "model", "run"),
    "report": ("run",),
    "programs": ("options", "session", "checkpoint", "data", "run", "train", "report"),
}
# These use the adapters.
ABOVE_ADAPTERS = ("c", "programs")
# The rooms of fast/ that an adapter may include, beside headers outside rooms.
FOR_ADAPTERS = re.compile(r"^fast/(options/session_options|session/(exchange|session|status)|checkpoint/saved_state|model/\w+"
                          r"|train/(flat_optimizer|initial_weights|learner|losses|models|optimizer_options|parameter_patterns)|data/(batch|example_spec|image_shape))\.h$")

FRAMEWORK = re.compile(r"^(torch|ATen|c10|caffe2|tensorflow|mxnet)/")
ZMQ = re.compile(r"^zmq(_addon)?\.h(pp)?$")
OPENSSL = re.compile(r"^openssl/")
SOCKETS = re.compile(r"^(sys/(socket|epoll|eventfd|timerfd|un)\.h|netinet/|netdb\.h|arpa/)")
ASIO = re.compile(r"^(boost/)?asio(/|\.hpp)")
PROTOBUF = re.compile(r"^google/protobuf/|\.pb\.h$")
THREADS = re.compile(r"^(thread|mutex|shared_mutex|condition_variable|future|pthread\.h|semaphore)$")

COLLECTIVE = re.compile(
    r"\b(MPI_\w+|ncclAll\w+|all_?reduce|all_?gather|reduce_scatter|ProcessGroup\w*|c10d)\b", re.I)
SLEEP = re.compile(r"\b(sleep_for|sleep_until|usleep|nanosleep|sleep)\s*\(")
ENVIRONMENT = re.compile(r"\b(getenv|secure_getenv|environ|argv)\b")
CLOCK = re.compile(r"::now\s*\(|\b(clock_gettime|gettimeofday)\s*\(|\btime\s*\(\s*(nullptr|NULL|0)\s*\)")
DISTRIBUTION = re.compile(r"\bstd::(\w+_distribution|shuffle|random_shuffle|sample)\b")
DISABLED = re.compile(r"\b(DISABLED_\w+|GTEST_SKIP)\b")

COMMENT_OR_STRING = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"([^()\\ ]{0,16})\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'',
    re.S)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)


def without_comments_and_strings(text):
    """Same length in lines, so that positions still give line numbers."""
    return COMMENT_OR_STRING.sub(lambda found: "\n" * found.group().count("\n"), text)


def place(path):
    """(room, layer) of a file: ("stencil", "core"), ("fast", "programs"), ("tests", "")."""
    parts = path.split("/")
    return parts[0], parts[1] if len(parts) > 2 else ""


def include_breach(path, target):
    """Why the file `path` may not include `target`, or None."""
    room, layer = place(path)
    other, other_layer = place(target)
    if PROTOBUF.search(target) and (room, layer) != ("stencil", "wire"):
        return "protobuf belongs to stencil/wire alone"
    if ASIO.search(target) and (room, layer) != ("stencil", "io"):
        return "asio belongs to stencil/io alone"
    if room == "stencil" and FRAMEWORK.search(target):
        return "stencil/ knows no framework"
    if room == "fast" and FRAMEWORK.search(target):
        return "fast/ knows no framework"
    if ZMQ.search(target) and room != "bench" and (room, layer) != ("stencil", "transport"):
        return "zmq belongs into stencil/transport/zmq/, and into bench/"
    if OPENSSL.search(target) and room != "tests" and (room, layer) != ("stencil", "transport"):
        return "openssl belongs into stencil/transport/stream/"
    if room == "stencil" and layer in ("core", "engine"):
        if SOCKETS.search(target):
            return f"stencil/{layer} does no I/O"
        if THREADS.search(target):
            return f"stencil/{layer} knows no thread and no lock"
    if "../" in target:
        return "includes are written from the root of the tree"
    if other not in ("stencil", "fast", "adapters", "tests", "examples", "bench"):
        return None
    if room == "stencil":
        if other != "stencil":
            return f"stencil/ may not include {other}/"
        if layer != other_layer and other_layer not in LAYERS.get(layer, ()):
            return f"stencil/{layer} may not include stencil/{other_layer}"
    if room == "fast":
        if other not in ("stencil", "fast"):
            return f"fast/ may not include {other}/"
        inside = other == "stencil" or other_layer in ("", layer)
        if not inside and other_layer not in FAST_ROOMS.get(layer, ()):
            return f"fast/{layer} may not include fast/{other_layer}"
    if room == "adapters" and layer not in ABOVE_ADAPTERS:
        inside = other == "adapters" and layer == other_layer
        allowed = inside or (other, other_layer) == ("stencil", "core")
        allowed = allowed or (other, other_layer) == ("fast", "") or FOR_ADAPTERS.search(target)
        if not allowed:
            return f"an adapter may not include {target}"
    if room in ("examples", "bench") and other in ("examples", "bench", "tests") and other != room:
        return f"{room}/ may not include {other}/"
    return None


def pure_virtual_counts(code):
    """(class, count) of every class that has pure virtuals; nested classes count by themselves."""
    token = re.compile(r"\b(?:class|struct)\s+(?:\[\[\w+\]\]\s*)?(\w+)[^;{}()<>=]*(?:<[^;{}]*)?\{"
                       r"|\{|\}|\bvirtual\b[^;{}]*=\s*0\s*;")
    open_classes, counts = [], []
    for found in token.finditer(code):
        if found.group(1):
            open_classes.append(len(counts))
            counts.append([found.group(1), 0, found.start()])
        elif found.group() == "{":
            open_classes.append(None)
        elif found.group() == "}":
            if open_classes:
                open_classes.pop()
        else:
            inside = [i for i in open_classes if i is not None]
            if inside:
                counts[inside[-1]][1] += 1
    return counts


def token_rules(room, layer):
    rules = []
    if room == "stencil":
        rules.append((ENVIRONMENT, "stencil/ reads neither command line nor environment"))
        if layer != "io":
            rules.append((CLOCK, "clocks are read in stencil/io alone; elsewhere time is passed in"))
    if room in ("stencil", "fast", "adapters"):
        rules.append((DISTRIBUTION, "std distributions differ between libraries; use core/random.h"))
    if room != "bench":
        rules.append((COLLECTIVE, "no collective outside bench/"))
    if room == "tests":
        rules.append((SLEEP, "no sleeping in tests"))
        rules.append((DISABLED, "no disabled and no skipped tests"))
    return rules


def check_code(path, text, breaches):
    room, layer = place(path)
    first = None
    for found in INCLUDE.finditer(text):
        line, target = text.count("\n", 0, found.start()) + 1, found.group(2)
        why = include_breach(path, target)
        if why:
            breaches.append((path, line, f"{why} (includes {target})"))
        first = first or (line, target)
        own = path[:-3] + ".h" if path.endswith(".cc") else None
        if target == own and first[1] != own:
            breaches.append((path, line, "a file's own header comes first"))
    code = without_comments_and_strings(text)
    if path.endswith(".h") and "#pragma once" not in text:
        breaches.append((path, 1, "a header needs #pragma once"))
    for pattern, why in token_rules(room, layer):
        lines = {code.count("\n", 0, found.start()) + 1: found.group().strip()
                 for found in pattern.finditer(code)}
        breaches.extend((path, line, f"{why} ({what})") for line, what in lines.items())
    for name, count, start in pure_virtual_counts(code):
        if count > MAX_PURE_VIRTUALS:
            breaches.append((path, code.count("\n", 0, start) + 1,
                             f"interface {name} has {count} pure virtuals, at most "
                             f"{MAX_PURE_VIRTUALS} are allowed"))


def check_tree(root):
    breaches, files = [], 0
    for room in ROOMS:
        for folder, folders, names in os.walk(os.path.join(root, room)):
            folders[:] = sorted(f for f in folders if f not in ("__pycache__", "corpus"))
            for name in sorted(names):
                full = os.path.join(folder, name)
                path = os.path.relpath(full, root).replace(os.sep, "/")
                if not name.endswith(TEXT) or os.path.islink(full):
                    continue
                files += 1
                with open(full, encoding="utf-8", errors="replace") as opened:
                    text = opened.read()
                lines = text.count("\n")
                if lines > MAX_LINES:
                    breaches.append((path, lines, f"{lines} lines, at most {MAX_LINES} are allowed"))
                if name.endswith(CODE):
                    check_code(path, text, breaches)
    return breaches, files


PURE = "struct Wide {\n" + "".join(f"  virtual void f{i}() const = 0;\n" for i in range(8)) + "};\n"
# (file, content, part of the rule that must be named); each is the only breach in its tree.
BAD = [
    ("stencil/core/a.cc", '#include "stencil/codec/codec.h"\n', "stencil/core may not include"),
    ("stencil/codec/a.cc", '#include "stencil/mix/mixer.h"\n', "stencil/codec may not include"),
    ("stencil/wire/a.cc", '#include "stencil/transport/transport.h"\n', "stencil/wire may not"),
    ("stencil/engine/a.cc", '#include "stencil/wire/wire.h"\n', "stencil/engine may not include"),
    ("stencil/threads/a.cc", '#include "stencil/io/event_loop.h"\n', "stencil/threads may not"),
    ("stencil/engine/a.cc", '#include "stencil/threads/mutex.h"\n', "stencil/engine may not"),
    ("stencil/io/a.cc", '#include "stencil/engine/engine.h"\n', "stencil/io may not include"),
    ("stencil/mix/a.cc", '#include "stencil/engine/engine.h"\n', "stencil/mix may not include"),
    ("stencil/shared/a.cc", '#include "stencil/mix/mixer.h"\n', "stencil/shared may not include"),
    ("stencil/transport/stream/a.cc", '#include "stencil/wire/wire.h"\n', "stencil/transport may not"),
    ("stencil/runtime/a.cc", '#include "stencil/sim/network.h"\n', "stencil/runtime may not"),
    ("stencil/sim/a.cc", '#include "fast/session/session.h"\n', "stencil/ may not include fast/"),
    ("stencil/mix/a.cc", '#include "adapters/flat/flat_adapter.h"\n', "may not include adapters/"),
    ("stencil/mix/a.cc", "#include <torch/torch.h>\n", "knows no framework"),
    ("stencil/core/a.cc", "int main(int, char** argv) { return argv[0][0]; }\n", "command line"),
    ("stencil/runtime/a.cc", 'auto x = std::getenv("X");\n', "environment"),
    ("stencil/engine/a.cc", "#include <sys/socket.h>\n", "does no I/O"),
    ("stencil/runtime/a.cc", "#include <zmq.hpp>\n", "zmq belongs into"),
    ("fast/a.cc", "#include <openssl/ssl.h>\n", "openssl belongs into"),
    ("stencil/engine/a.cc", "#include <boost/asio/io_context.hpp>\n", "asio belongs"),
    ("stencil/transport/a.cc", "#include <boost/asio/post.hpp>\n", "asio belongs"),
    ("stencil/core/a.cc", "#include <google/protobuf/message_lite.h>\n", "protobuf belongs"),
    ("stencil/runtime/a.cc", '#include "wire.pb.h"\n', "protobuf belongs"),
    ("fast/a.cc", '#include "proto/wire.pb.h"\n', "protobuf belongs"),
    ("stencil/core/a.h", "#pragma once\n#include <mutex>\n", "no thread and no lock"),
    ("stencil/engine/a.cc", "#include <thread>\n", "no thread and no lock"),
    ("stencil/engine/a.cc", "auto t = std::chrono::steady_clock::now();\n", "clocks are read"),
    ("stencil/runtime/a.cc", "auto t = Clock::now();\n", "clocks are read"),
    ("fast/programs/a.cc", '#include "adapters/flat/flat_adapter.h"\n', "may not include adapters/"),
    ("fast/data/a.cc", '#include "fast/programs/command.h"\n', "fast/data may not include"),
    ("fast/data/a.cc", '#include "fast/train/learner.h"\n', "fast/data may not include"),
    ("fast/session/a.cc", '#include "fast/data/dataset.h"\n', "fast/session may not include"),
    ("fast/train/a.cc", '#include "fast/report/page.h"\n', "fast/train may not include"),
    ("fast/programs/a.cc", "#include <torch/torch.h>\n", "knows no framework"),
    ("fast/a.cc", '#include "tests/support/x.h"\n', "may not include tests/"),
    ("adapters/flat/a.cc", '#include "fast/run/metrics.h"\n', "an adapter may not include"),
    ("adapters/flat/a.cc", '#include "adapters/torch/torch_adapter.h"\n', "an adapter may not"),
    ("adapters/flat/a.cc", '#include "stencil/runtime/pump.h"\n', "an adapter may not include"),
    ("fast/a.cc", '#include "../stencil/core/layout.h"\n', "from the root of the tree"),
    ("fast/a.cc", "#include <vector>\n#include \"fast/a.h\"\n", "own header comes first"),
    ("fast/a.h", "struct A {};\n", "#pragma once"),
    ("fast/a.cc", "void f() { MPI_Allreduce(); }\n", "no collective"),
    ("adapters/torch/a.cc", "c10d::ProcessGroupGloo* group;\n", "no collective"),
    ("stencil/sim/a.cc", "std::normal_distribution<double> d;\n", "std distributions"),
    ("tests/unit/a.cc", "void f() { std::this_thread::sleep_for(1s); }\n", "no sleeping"),
    ("tests/unit/a.cc", "TEST(A, DISABLED_b) {}\n", "no disabled"),
    ("tests/unit/a.cc", "TEST(A, B) { GTEST_SKIP(); }\n", "no skipped"),
    ("fast/a.h", "#pragma once\n" + PURE, "8 pure virtuals"),
    ("fast/a.cc", "\n" * 451, "451 lines"),
    ("tests/long.py", "\n" * 451, "451 lines"),
    ("bench/a.cc", '#include "tests/support/x.h"\n', "may not include tests/"),
]
GOOD = [
    ("stencil/sim/a.cc", '#include "stencil/runtime/pump.h"\n#include "stencil/core/layout.h"\n'),
    ("stencil/io/a.cc", "#include <boost/asio/post.hpp>\nauto t = Clock::now();\n"),
    ("stencil/wire/a.cc", '#include "wire.pb.h"\n'),
    ("stencil/core/a.cc", '// getenv, argv, all-reduce\nconst char* a = "Clock::now() allreduce";\n'),
    ("adapters/programs/a.cc", '#include "adapters/flat/flat_adapter.h"\n'
                               '#include "fast/programs/fast_main.h"\n'),
    ("adapters/c/a.cc", '#include "adapters/flat/flat_adapter.h"\n'
                        '#include "fast/run/safetensors.h"\n'),
    ("fast/train/a.cc", '#include "fast/data/batch.h"\n#include "fast/errors.h"\n'),
    ("fast/b.h", "#pragma once\n" + PURE.replace("virtual void f7() const = 0;", "void f7();")),
    ("bench/a.cc", "c10d::ProcessGroupGloo* group;\n"),
    ("tests/unit/b.cc", '#include "stencil/engine/engine.h"\n#include "fast/programs/command.h"\n'),
]


def check_example(examples):
    with tempfile.TemporaryDirectory() as root:
        for path, text in examples:
            full = os.path.join(root, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w", encoding="utf-8") as out:
                out.write(text)
        return check_tree(root)[0]


def self_test():
    wrong = [f"good example: {breach}" for breach in check_example(GOOD)]
    for path, text, rule in BAD:
        found = check_example([(path, text)])
        if len(found) != 1 or rule not in found[0][2]:
            wrong.append(f"{path} {text[:60]!r}: expected one breach with {rule!r}, got {found}")
    print("\n".join(wrong + [f"{len(BAD)} bad and {len(GOOD)} good examples, {len(wrong)} wrong"]))
    return 1 if wrong else 0


def main():
    if len(sys.argv) != 2 or sys.argv[1] in ("-h", "--help"):
        sys.exit(__doc__)
    if sys.argv[1] == "--self-test":
        return self_test()
    breaches, files = check_tree(sys.argv[1])
    for path, line, why in breaches:
        print(f"{path}:{line}: {why}")
    if files == 0:
        print(f"{sys.argv[1]}: no source file found; give the root of the source tree")
    print(f"{files} files, {len(breaches)} breaches")
    return 1 if breaches or files == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
