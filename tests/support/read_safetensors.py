#!/usr/bin/env python3
"""Reads a safetensors file with only Python's standard library, and prints its content.

Written from the format's specification and independent of FAST's own code, so that a test can check
whether other programs can read the files that FAST writes. Prints one line a tensor: name, type,
shape, sum of its elements. Exit code 0: the file is right; 1: it is not; 2: usage.
"""
import json
import math
import struct
import sys

FORMATS = {"F64": "d", "F32": "f", "F16": "e", "I64": "q", "U64": "Q", "I32": "i", "U32": "I",
           "I16": "h", "U16": "H", "I8": "b", "U8": "B", "BOOL": "?"}


class Wrong(Exception):
    pass


def check(condition, what):
    if not condition:
        raise Wrong(what)


def without_doubles(pairs):
    names = [name for name, _ in pairs]
    check(len(set(names)) == len(names), f"a name appears twice among {names[:5]}...")
    return dict(pairs)


def read(path):
    with open(path, "rb") as file:
        content = file.read()
    check(len(content) >= 8, "shorter than its length field")
    (length,) = struct.unpack("<Q", content[:8])
    check(8 + length <= len(content), f"header of {length} bytes does not fit into the file")
    check((8 + length) % 8 == 0, f"data begins at {8 + length}, which is no multiple of 8")
    text = content[8:8 + length]
    check(text[:1] == b"{", "header does not begin with {")
    check(text.rstrip(b" ")[-1:] == b"}", "header is padded with something else than spaces")
    header = json.loads(text.decode("utf-8"), object_pairs_hook=without_doubles)
    metadata = header.pop("__metadata__", {})
    check(all(isinstance(value, str) for value in metadata.values()), "metadata that is no text")

    data = content[8 + length:]
    tensors, expected = {}, 0
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        check(set(entry) == {"dtype", "shape", "data_offsets"}, f"{name}: fields {set(entry)}")
        begin, end = entry["data_offsets"]
        form = FORMATS[entry["dtype"]]
        width = struct.calcsize("<" + form)
        count = math.prod(entry["shape"])
        check(begin == expected, f"{name}: begins at {begin}, the one before ends at {expected}")
        check(end - begin == count * width, f"{name}: {end - begin} bytes for {entry['shape']}")
        check(end <= len(data), f"{name}: ends behind the file")
        check((8 + length + begin) % width == 0, f"{name}: not aligned to {width}")
        values = struct.unpack(f"<{count}{form}", data[begin:end])
        tensors[name] = (entry["dtype"], entry["shape"], math.fsum(values))
        expected = end
    check(expected == len(data), f"{len(data) - expected} bytes after the last tensor")
    return metadata, tensors


def main(arguments):
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        metadata, tensors = read(arguments[1])
    except (Wrong, OSError, ValueError, KeyError, TypeError, struct.error) as error:
        print(f"{arguments[1]}: {error!r}", file=sys.stderr)
        return 1
    for key, value in sorted(metadata.items()):
        print(f"# {key} = {value}")
    for name, (dtype, shape, total) in sorted(tensors.items()):
        print(f"{name} {dtype} {json.dumps(shape, separators=(',', ':'))} {total:.6g}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
