"""Starts a program twice on this machine, as the two workers of a ring.

usage: two_workers.py PROGRAM [ARGUMENT..]

The workers learn who they are from FAST_* variables. On several machines, set them there by hand:
FAST_TOPOLOGY=ring:2 FAST_RANK=1 FAST_LISTEN=*:5555 FAST_PEER=0=first-machine:5555 FAST_KEYS=keys
with the folder that `fast keys --out keys --workers 2` makes.
"""

import os
import subprocess
import sys
import tempfile

with tempfile.TemporaryDirectory(prefix="fast-") as folder:
    workers = [
        subprocess.Popen(
            [sys.executable, *sys.argv[1:]],
            env={
                "OMP_NUM_THREADS": "1",  # of each worker, as torchrun sets it too
                **os.environ,
                "FAST_TOPOLOGY": "ring:2",
                "FAST_RANK": str(rank),
                "FAST_LISTEN": f"ipc://{folder}/{rank}",
                "FAST_PEER": f"{1 - rank}=ipc://{folder}/{1 - rank}",
            },
        )
        for rank in range(2)
    ]
    codes = [worker.wait() for worker in workers]
sys.exit(max(codes, key=abs))
