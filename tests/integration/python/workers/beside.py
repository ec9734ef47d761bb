"""Two workers of one process, beside another library whose symbols the whole process sees.

usage: beside.py LIBRARY
"""

import array
import ctypes
import pathlib
import sys

other = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import support  # noqa: E402

models = [array.array("f", [0.5]), array.array("f", [0.5])]
sessions = support.ring(models, budget=40, share_memory="never")
support.train(sessions, lambda index: 1.0)
print([session.agreed for session in sessions])
