#!/usr/bin/env python3
"""Real launchers of clusters: a worker that is killed stops nobody else, with the flags of the help.

usage: launchers.py mpirun|slurm FAST_WORKER

mpirun is Open MPI's; slurm starts a slurmctld and four slurmd on this machine, which authenticate
nothing. Every wait has a deadline; all that was started is ended. Exits with 1 where a check fails.
"""
import contextlib
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator

WORKERS = 4
KILLED = 2
PATIENCE = 150.0


def wait_until(condition: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"waited {PATIENCE:.0f} s in vain for {what}")
        time.sleep(0.05)


def check(holds: bool, what: str) -> None:
    if not holds:
        sys.exit(f"failed: {what}")


def read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def documented(worker: str, launcher: str) -> list[str]:
    """The flags that `fast-worker --help` gives behind the launcher's name, before -n or -np."""
    text = subprocess.check_output([worker, "--help"], text=True, timeout=PATIENCE)
    line = re.search(rf"^ *{launcher} (.*?)(?: -np? | fast-worker)", text, re.M)
    check(line is not None, f"the help of fast-worker names {launcher}")
    assert line is not None
    return shlex.split(line[1])


def job(worker: str, out: str) -> list[str]:
    return [worker, "--topology", "torus:2x2", "--model", "linear", "--data", "synthetic:512,128",
            "--epochs", "2000", "--threads", "1", "--out", out, "--report-every", "0.2",
            "--peer-template", f"file:{out}/worker-{{rank}}/endpoint", "--suspect-after", "0.5",
            "--gone-after", "1", "--start-deadline", "60"]


def run(command: list[str], out: str, environment: dict[str, str], source: str) -> None:
    """Starts the job, kills one rank in the middle of it, and looks at what the others leave."""
    def metrics(rank: int) -> str:
        return read(f"{out}/worker-{rank}/metrics.jsonl")

    with open(f"{out}.log", "w", encoding="utf-8") as log:
        launched = subprocess.Popen(command, stdout=log, stderr=log, env=environment,
                                    start_new_session=True)
    try:
        wait_until(lambda: launched.poll() is not None or
                   all('"training"' in metrics(rank) for rank in range(WORKERS)),
                   "all to train")
        check(launched.poll() is None, "the job runs: " + read(f"{out}.log"))
        holder = re.search(r"process (\d+)", read(f"{out}/worker-{KILLED}/lock"))
        assert holder is not None
        os.kill(int(holder[1]), signal.SIGKILL)
        wait_until(lambda: launched.poll() is not None, "the job to end")
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(launched.pid, signal.SIGKILL)
        launched.wait()
    for rank in range(WORKERS):
        check(re.search(rf"rank {rank} of {WORKERS} \([^)]*\), from {source}:",
                        read(f"{out}/worker-{rank}/log.txt")) is not None,
              f"worker {rank} says where its rank came from")
        if rank == KILLED:
            continue
        check('"exit_code":0' in metrics(rank),
              f"worker {rank} ends well: " + read(f"{out}.log") + metrics(rank)[-500:])
        check(os.path.exists(f"{out}/worker-{rank}/model.safetensors"), f"worker {rank}'s model")


def mpirun(worker: str, folder: str) -> None:
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                       OMPI_MCA_rmaps_base_oversubscribe="1")
    out = f"{folder}/run"
    run(["mpirun", *documented(worker, "mpirun"), "-np", str(WORKERS), *job(worker, out)], out,
        environment, "OMPI_COMM_WORLD_RANK")


def free_ports(count: int) -> list[int]:
    """Ports that were free a moment ago."""
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def configuration(folder: str) -> str:
    host = socket.gethostname().split(".")[0]
    controller, *nodes = free_ports(WORKERS + 1)
    lines = {
        "ClusterName": "test", "SlurmctldHost": f"{host}(127.0.0.1)", "SlurmctldPort": controller,
        "AuthType": "auth/none", "CredType": "cred/none", "SlurmUser": "root",
        "StateSaveLocation": f"{folder}/state", "SlurmdSpoolDir": f"{folder}/spool-%n",
        "SlurmctldPidFile": f"{folder}/slurmctld.pid", "SlurmdPidFile": f"{folder}/%n.pid",
        "ProctrackType": "proctrack/pgid", "TaskPlugin": "task/none",
        "SelectType": "select/cons_tres", "SwitchType": "switch/none", "MpiDefault": "none",
        "SlurmdParameters": "config_overrides", "ReturnToService": 2,
    }
    text = "".join(f"{key}={value}\n" for key, value in lines.items())
    for number, port in enumerate(nodes):
        text += (f"NodeName=n{number} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=1\n")
    return text + "PartitionName=all Nodes=ALL Default=YES State=UP\n"


@contextlib.contextmanager
def cluster(folder: str) -> Iterator[dict[str, str]]:
    os.mkdir(f"{folder}/state")
    with open(f"{folder}/slurm.conf", "w", encoding="utf-8") as file:
        file.write(configuration(folder))
    environment = dict(os.environ, SLURM_CONF=f"{folder}/slurm.conf")
    environment["PATH"] += ":/usr/sbin:/sbin"
    daemons = []
    with open(f"{folder}/daemons.log", "w", encoding="utf-8") as log:
        for command in (["slurmctld", "-D"],
                        *(["slurmd", "-D", "-N", f"n{i}"] for i in range(WORKERS))):
            daemons.append(subprocess.Popen(command, stdout=log, stderr=log, env=environment))
    try:
        def idle() -> bool:
            shown = subprocess.run(["sinfo", "-h", "-t", "idle", "-o", "%D"], env=environment,
                                   capture_output=True, text=True, timeout=PATIENCE, check=False)
            return shown.stdout.strip() == str(WORKERS)

        wait_until(idle, "four nodes: " + read(f"{folder}/daemons.log"))
        yield environment
    finally:
        for daemon in daemons:
            daemon.terminate()
        for daemon in daemons:
            daemon.wait(timeout=PATIENCE)


def slurm(worker: str, folder: str) -> None:
    out = f"{folder}/run"
    with cluster(folder) as environment:
        run(["srun", *documented(worker, "srun"), f"-N{WORKERS}", f"-n{WORKERS}",
             *job(worker, out)], out, environment, "SLURM_PROCID")


def main() -> None:
    kinds = {"mpirun": mpirun, "slurm": slurm}
    if len(sys.argv) != 3 or sys.argv[1] not in kinds:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        kinds[sys.argv[1]](os.path.abspath(sys.argv[2]), folder)


if __name__ == "__main__":
    main()
