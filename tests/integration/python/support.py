"""Workers for the tests of fast_training: two of one process, or two processes."""

import json
import logging
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import threading

import fast_training as fast

LOGGER = logging.getLogger("fast_training")
LOGGER.addHandler(logging.NullHandler())  # nothing on stderr


def not_of_topology(record):
    """A filter: many sessions here are alone on purpose, without a topology that would say so."""
    return "no topology is given" not in record.getMessage()


LOGGER.addFilter(not_of_topology)
WORKERS = pathlib.Path(__file__).parent / "workers"
SECONDS = 120  # after which a process counts as hanging


def together(works):
    """Calls each function on a thread of its own. Raises the first error."""
    errors = []

    def run(work):
        try:
            work()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def ring(models, **options):
    """A session of a ring for each model, all in this process, open and able to meet."""
    sessions = []
    for rank, model in enumerate(models):
        peers = {} if not sessions else {0: sessions[0].endpoint()}
        sessions.append(
            fast.Session(model, topology=f"ring:{len(models)}", rank=rank, peers=peers, **options)
        )
    return sessions


def train(sessions, step):
    """Trains all sessions until they are done: `step(index)` is a step and returns its loss."""

    def work(index):
        with sessions[index] as session:
            session.join()
            while not session.done():
                session.exchange(samples=1, loss=step(index))

    together([lambda index=index: work(index) for index in range(len(sessions))])


def start(worker, *arguments, **variables):
    """A process that runs workers/`worker`.py."""
    return subprocess.Popen(
        [sys.executable, str(WORKERS / f"{worker}.py"), *map(str, arguments)],
        env={**os.environ, **{name: str(value) for name, value in variables.items()}},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def outcome(process):
    """(exit code, standard output, standard error) at the end of a process."""
    try:
        out, err = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        raise AssertionError(f"a worker hangs:\n{out}\n{err}") from None
    return process.returncode, out, err


def reports(processes):
    """What each process has printed last, as JSON. Raises where one has failed."""
    found = []
    for process in processes:
        code, out, err = outcome(process)
        if code != 0:
            raise AssertionError(f"a worker ended with {code}:\n{out}\n{err}")
        found.append(json.loads(out.splitlines()[-1]))
    return found


def meeting_variables(folder):
    """FAST_* variables by which the two workers of a ring meet in `folder`."""
    common = {
        "FAST_TOPOLOGY": "ring:2",
        "FAST_PEER": f"0=ipc://{folder}/0",
        "FAST_MODE": "bounded:3",
    }
    return [
        {**common, "FAST_RANK": "0", "FAST_LISTEN": f"ipc://{folder}/0"},
        {**common, "FAST_RANK": "1", "FAST_LISTEN": f"ipc://{folder}/1"},
    ]


def temporary_folder():
    """A folder that is removed at the end of a ``with``."""
    return tempfile.TemporaryDirectory(prefix="fast-python-")


def saved_tensors(path):
    """{name: (type, shape)} of a safetensors file."""
    with open(path, "rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(size))
    header.pop("__metadata__")
    return {name: (entry["dtype"], tuple(entry["shape"])) for name, entry in header.items()}


def saved_values(path):
    """{name: numbers} of a safetensors file, of tensors of type F32."""
    with open(path, "rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        header, data = json.loads(file.read(size)), file.read()
    return {
        name: list(struct.unpack(f"<{(end - begin) // 4}f", data[begin:end]))
        for name, entry in header.items()
        if name != "__metadata__" and entry["dtype"] == "F32"
        for begin, end in [entry["data_offsets"]]
    }
