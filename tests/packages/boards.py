#!/usr/bin/env python3
"""Runs examples/edge/README.md, word for word: four boards and a desk, each a Debian that systemd
boots in namespaces of its own (systemd-nspawn), on a bridge. As root.

usage: boards.py [--seeds N,..] DEBS

DEBS is a folder of packages (tests/packages/build.sh). For each seed: the boards are set up from
the README; one of their workers hangs, and must be started again; at a moment that the seed chooses
every process of all of them is killed at once, as by a power cut, and they boot again; board 2 is
replaced by a blank one; at the end the report is gathered, and must have four workers that agree on
a model that has learnt. Besides, a unit whose key, data or options are missing must say so in one
line and not be tried again.

The systems are those of base_system.sh with what boards have before FAST, kept beside them; each
run works on overlays in memory.
"""

import argparse
import contextlib
import json
import os
import pathlib
import random
import re
import signal
import sys
import tempfile
import time

from systems import BOARDS, DESK, EXAMPLE, Board, Desk, Network, base_system, eventually, run


def snippets() -> dict[str, str]:
    """The commands of README.md, by the first word that tells each from the others."""
    found = re.findall(
        r"```sh\n(.*?)```", (EXAMPLE / "README.md").read_text(encoding="utf-8"), re.S
    )
    names = ["install", "options", "set up", "watch", "replace", "gather"]
    if len(found) != len(names):
        raise RuntimeError(f"README.md has {len(found)} blocks of commands, not {len(names)}")
    return dict(zip(names, found))


def paced(options: str, epochs: int) -> str:
    """The run of the README, as slow as a board and as long as a trial of power cuts needs."""
    text = options.replace(
        "FAST_EPOCHS=20\n",
        f"FAST_EPOCHS={epochs}\nFAST_CHECKPOINT_EVERY=2\nFAST_SLOW=0:200,1:200,2:200,3:200\n",
    )
    if text == options:
        raise RuntimeError("README.md no longer says FAST_EPOCHS=20")
    return text


def steps(board: Board) -> int:
    """That the worker of a board has made, as its metrics tell; 0 before the first."""
    file = board.root / f"var/lib/fast/digits/worker-{board.number}/metrics.jsonl"
    found = re.findall(r'"step": ?(\d+)', file.read_text()) if file.exists() else []
    return int(found[-1]) if found else 0


def log(board: Board) -> str:
    return (board.root / f"var/lib/fast/digits/worker-{board.number}/log.txt").read_text()


def hang(desk: Desk, board: Board) -> None:
    """A worker that hangs is started again, and goes on; one that does not is left alone: it has
    trained for longer than its watchdog waits."""

    def shown() -> str:
        return desk.shell(f"ssh root@{board.name} systemctl show -p NRestarts fast-worker@digits")

    if "NRestarts=0" not in shown():
        raise RuntimeError(f"{board.name} was started again without cause: {shown()}")
    time.sleep(5)
    desk.shell(f"ssh root@{board.name} systemctl kill --kill-whom=main -s STOP fast-worker@digits")
    eventually("the worker that hung is started again", lambda: "NRestarts=1" in shown())
    eventually("it goes on", lambda: log(board).count("goes on from step") == 1)
    print("  board 3 hung, and was started again", flush=True)


def unusable_units(desk: Desk, board: Board) -> None:
    """One line with cause and remedy, the exit code, and no further attempt."""
    where = f"root@{board.name}"
    unit = "fast-worker@digits"

    def refusal(break_it: str, mend: str, code: int, *words: str) -> None:
        desk.shell(
            f"ssh {where} '{break_it}; systemctl stop {unit}; systemctl start {unit} || true'"
        )
        shown = desk.shell(
            f"ssh {where} systemctl show -p ExecMainStatus,NRestarts,ActiveState {unit}"
        )
        since = desk.shell(f'ssh {where} "journalctl -o cat -p err -t fast-worker -n 1"')
        for wanted in (f"ExecMainStatus={code}", "NRestarts=0", "ActiveState=failed"):
            if wanted not in shown:
                raise RuntimeError(f"after {break_it}: {wanted} is not in\n{shown}{since}")
        lost = [word for word in words if word not in since]
        if lost or len(since.splitlines()) != 1:
            raise RuntimeError(f"after {break_it}: {lost} not in one line: {since}")
        print(f"  {code}: {since.strip()}", flush=True)
        desk.shell(f"ssh {where} '{mend}; systemctl reset-failed {unit}'")

    key, conf = "/etc/fast/digits.key", "/etc/fast/digits.conf"
    refusal(f"mv {key} /root/key", f"mv /root/key {key}", 2, "no secret key", key)
    refusal("mv /srv/digits /srv/away", "mv /srv/away /srv/digits", 3, "/srv/digits")
    refusal(f"sed -i.bak s/ring:4/rung:4/ {conf}", f"mv {conf}.bak {conf}", 2, "rung:4")
    refused = desk.shell(
        f"ssh {where} 'mv {conf} /root/conf; systemctl start {unit} 2>&1 || "
        f"systemctl --no-pager status {unit} || true; mv /root/conf {conf}'"
    )
    if f"AssertPathExists={conf}" not in refused and "ssertion failed" not in refused:
        raise RuntimeError(f"without {conf}: {refused}")
    print(f"  without {conf}: {refused.strip().splitlines()[0]}", flush=True)


def one_run(
    seed: int,
    debs: pathlib.Path,
    base: pathlib.Path,
    epochs: int,
    folder: pathlib.Path,
    stack: contextlib.ExitStack,
) -> None:
    chance = random.Random(seed)
    network = Network(stack)
    desk = Desk(base, folder, network.host(DESK), debs)
    stack.callback(desk.end)
    boards = [Board(k, base, folder, network.host(k)) for k in BOARDS]
    say = snippets()
    for board in boards:
        stack.callback(board.end)
        board.trust(desk.key)
        board.boot()
    desk.shell(say["install"])
    desk.shell(paced(say["options"], epochs))

    def reachable(board: Board) -> None:
        def reached() -> bool:
            with contextlib.suppress(RuntimeError):
                return bool(desk.shell(f"ssh root@{board.name} echo up", 30))
            return False

        eventually(f"{board.name} boots", reached)

    for board in boards:
        reachable(board)
    impatient = boards[3].root / "etc/systemd/system/fast-worker@digits.service.d/watchdog.conf"
    impatient.parent.mkdir(parents=True)
    impatient.write_text("[Service]\nWatchdogSec=4\n")
    define, start = say["set up"].split("for k in")
    desk.functions = define
    desk.shell(f"for k in{start}")
    eventually("all train", lambda: all(steps(board) > 50 for board in boards))
    print(desk.shell(say["watch"]), flush=True)

    hang(desk, boards[3])
    wait = chance.uniform(3, 12)
    time.sleep(wait)
    before = [steps(board) for board in boards]
    for board in boards:
        os.kill(board.init(), signal.SIGSTOP)  # so that none goes on while the others die
    for board in boards:
        board.lose_power()
    print(f"  power cut {wait:.1f} s later, at steps {before}", flush=True)
    for board in boards:
        board.boot()
    for board in boards:
        reachable(board)
    eventually("all go on", lambda: all("goes on from step" in log(board) for board in boards))
    eventually("all train on", lambda: all(steps(board) > 50 for board in boards))

    broken = boards[2]
    broken.lose_power()
    broken.make_blank()
    broken.trust(desk.key)
    broken.boot()
    # The desk knows the old board's host key: a user would remove it before any ssh.
    forget, again = say["replace"].splitlines()[0], "\n".join(say["replace"].splitlines()[1:])
    desk.shell(forget)
    reachable(broken)
    desk.shell(again)
    eventually("the new board trains", lambda: steps(broken) > 20)
    taken = [line for line in log(broken).splitlines() if "took over the model" in line]
    if not taken:
        raise RuntimeError("the new board 2 has taken over no neighbour's model")
    print(f"  board 2 replaced: {taken[0]}", flush=True)

    report = desk.shell(say["gather"], 900)
    print(report, flush=True)
    summary = json.loads((desk.root / "root/runs/digits/summary.json").read_text())
    judge(summary)
    unusable_units(desk, boards[1])


def judge(summary: dict) -> None:
    """All four agreed on a model that has learnt."""
    accuracy = summary["test_accuracy"]["mean_model"]
    if accuracy is None or accuracy < 0.8:
        raise RuntimeError(f"the mean model's accuracy is {accuracy}: {json.dumps(summary)}")
    if summary["exit_codes"] != [0, 0, 0, 0] or summary["lost_ranks"] or summary["left_out"]:
        raise RuntimeError(f"a worker is not in the result: {json.dumps(summary)}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("debs", type=pathlib.Path)
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--epochs", type=int, default=240)
    given = parser.parse_args()
    base = base_system(given.debs)
    for seed in map(int, given.seeds.split(",")):
        print(f"-- seed {seed}", flush=True)
        with contextlib.ExitStack() as stack:
            folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
            run("mount", "-t", "tmpfs", "tmpfs", folder)
            stack.callback(run, "umount", "-l", folder)
            try:
                one_run(seed, given.debs, base, given.epochs, folder, stack)
            except Exception:
                for console in folder.glob("*/console"):
                    print(f"---- {console.parent.name}\n{console.read_text()[-2000:]}")
                for file in folder.glob("board*/root/var/lib/fast/digits/worker-*/log.txt"):
                    print(f"---- {file.parent.name}\n{file.read_text()[-3000:]}")
                raise
    print("the boards trained through power cuts and a replacement")


if __name__ == "__main__":
    if os.geteuid() != 0:
        sys.exit("boards.py: needs root, for namespaces and chroots")
    main()
