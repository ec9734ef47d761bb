"""libfast.so beside frameworks that show libraries of their own to the whole process."""

import subprocess
import unittest

import support
from fast_training._library import library


def clash_with(path, folder):
    """A library that has every function of protobuf that libfast.so calls, each of which aborts."""
    listed = subprocess.run(
        ["nm", "-D", "--undefined-only", path], stdout=subprocess.PIPE, text=True, check=True
    )
    names = [
        word for word in listed.stdout.split() if word.startswith(("_ZN6google", "_ZNK6google"))
    ]
    lines = ["#include <stdlib.h>"]
    for index, name in enumerate(names):
        lines.append(f'void f{index}(void) __asm__("{name}"); void f{index}(void) {{ abort(); }}')
    with open(f"{folder}/other.c", "w") as file:
        file.write("\n".join(lines) + "\n")
    subprocess.run(
        ["cc", "-shared", "-fPIC", f"{folder}/other.c", "-o", f"{folder}/other.so"], check=True
    )
    return len(names), f"{folder}/other.so"


class Symbols(unittest.TestCase):
    def test_another_protobuf_of_the_process_is_not_called(self):
        with support.temporary_folder() as folder:
            functions, other = clash_with(library()._name, folder)
            self.assertGreater(functions, 5)
            code, out, err = support.outcome(support.start("beside", other))
        self.assertEqual((code, out), (0, "[True, True]\n"), err)


if __name__ == "__main__":
    unittest.main()
