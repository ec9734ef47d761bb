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
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples/edge"
BOARDS = range(4)
DESK = 9
SECONDS = 300.0  # after which anything counts as hanging
NEEDED = "systemd systemd-sysv dbus iproute2 openssh-server openssh-client python3-minimal"


def run(*command: object, seconds: float = SECONDS, **more) -> str:
    """A command's output; its words are in the error where it fails."""
    done = subprocess.run(
        [str(word) for word in command],
        text=True,
        timeout=seconds,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        **more,
    )
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: code {done.returncode}\n{done.stdout}")
    return done.stdout


def eventually(what: str, condition: Callable[[], bool], seconds: float = SECONDS) -> None:
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            raise RuntimeError(f"not within {seconds:.0f} s: {what}")
        time.sleep(0.5)


def base_system(debs: pathlib.Path) -> pathlib.Path:
    """A Debian with what boards have before FAST, and with the libraries that the packages load."""
    release = re.search(
        r"^VERSION_CODENAME=(\w+)", pathlib.Path("/etc/os-release").read_text(), re.M
    )[1]
    folder = pathlib.Path(
        run(ROOT / "tests/packages/base_system.sh", release, seconds=1800).strip()
    )
    needs = sorted(debs.glob("fast*.deb"))
    wanted = (
        "\n".join(run("dpkg-deb", "-f", deb, "Depends", "Recommends") for deb in needs) + NEEDED
    )
    system, told = folder / "board", folder / "board.of"
    if told.exists() and told.read_text() == wanted:
        return system
    shutil.rmtree(system, ignore_errors=True)
    run("cp", "-a", folder / "root", system)
    shutil.copy("/etc/resolv.conf", system / "etc/resolv.conf")
    (system / "debs").mkdir()
    for deb in needs:
        shutil.copy(deb, system / "debs")
    inside = (
        "export DEBIAN_FRONTEND=noninteractive; apt-get -qq update; "
        f"apt-get -qq -y --no-install-recommends install {NEEDED}; "
        # One after the other: they replace each other. Their libraries stay.
        "for deb in /debs/*.deb; do apt-get -qq -y install $deb; done; "
        "apt-get -qq -y purge 'fast*'; rm -rf /debs /etc/fast /etc/ssh/ssh_host_*; "
        "apt-get clean; systemctl mask -q getty.target console-getty.service systemd-logind.service"
    )
    run(
        "unshare",
        "--mount",
        "bash",
        "-c",
        f"set -e; mount -t proc proc {system}/proc; mount --rbind /dev {system}/dev; "
        f'exec chroot {system} bash -c "$0" 2>&1',
        f"set -e; {inside}",
        seconds=1800,
    )
    told.write_text(wanted)
    return system


class Network:
    """A bridge, and a network namespace on it for each host."""

    def __init__(self, stack: contextlib.ExitStack) -> None:
        self.prefix = f"fe{os.getpid() % 100_000}"
        self._stack = stack
        self._add(self.prefix)
        run("ip", "-n", self.prefix, "link", "add", "bridge", "type", "bridge")
        run("ip", "-n", self.prefix, "link", "set", "bridge", "up")

    def _add(self, name: str) -> None:
        run("ip", "netns", "add", name)
        self._stack.callback(lambda: run("ip", "netns", "del", name))

    def host(self, number: int) -> str:
        """Makes the namespace of a host; its name."""
        name, outside = f"{self.prefix}h{number}", f"o{number}"
        self._add(name)
        run(
            "ip",
            "-n",
            self.prefix,
            "link",
            "add",
            outside,
            "type",
            "veth",
            "peer",
            "name",
            "host0",
            "netns",
            name,
        )
        run("ip", "-n", self.prefix, "link", "set", outside, "master", "bridge", "up")
        for words in (
            "link set lo up",
            f"addr add {address(number)}/24 dev host0",
            "link set host0 up",
        ):
            run("ip", "-n", name, *words.split())
        return name


class ControlGroup:
    """Of one board, in each hierarchy that a systemd manages, so that no board ends another's
    services."""

    def __init__(self, name: str) -> None:
        roots = [pathlib.Path("/sys/fs/cgroup") / part for part in (".", "systemd", "unified")]
        self._folders = [root / name for root in roots if (root / "cgroup.procs").exists()]

    def enter(self) -> None:
        """Moves the calling process there."""
        for folder in self._folders:
            folder.mkdir(exist_ok=True)
            (folder / "cgroup.procs").write_text(str(os.getpid()))

    def remove(self) -> None:
        for folder in self._folders:
            inner = [pathlib.Path(path) for path, _, _ in os.walk(folder, topdown=False)]
            for group in inner:
                with contextlib.suppress(OSError):  # what still ends there stays, empty
                    group.rmdir()


def address(number: int) -> str:
    return f"10.215.1.{10 + number}"


class Board:
    """A system that boots, loses power and boots again."""

    def __init__(self, number: int, base: pathlib.Path, folder: pathlib.Path, network: str) -> None:
        self.number, self.base, self.network = number, base, network
        self.name = f"board{number}"
        self.folder = folder / self.name
        self._group = ControlGroup(f"{network}.boards")
        self._process: subprocess.Popen[bytes] | None = None
        self.make_blank()

    @property
    def root(self) -> pathlib.Path:
        return self.folder / "root"

    def make_blank(self) -> None:
        if self.root.exists():
            run("umount", self.root)
            shutil.rmtree(self.folder)
        for part in ("upper", "work", "root"):
            (self.folder / part).mkdir(parents=True)
        options = f"lowerdir={self.base},upperdir={self.folder}/upper,workdir={self.folder}/work"
        run("mount", "-t", "overlay", "overlay", "-o", options, self.root)
        (self.root / "etc/hostname").write_text(f"{self.name}\n")
        hosts = "".join(f"{address(k)} board{k}\n" for k in BOARDS)
        (self.root / "etc/hosts").write_text(f"127.0.0.1 localhost\n{hosts}")
        (self.root / "etc/machine-id").write_text("")
        run("chroot", self.root, "ssh-keygen", "-A")

    def trust(self, key: str) -> None:
        ssh = self.root / "root/.ssh"
        ssh.mkdir(mode=0o700, exist_ok=True)
        (ssh / "authorized_keys").write_text(key)

    def boot(self) -> None:
        with (self.folder / "console").open("ab") as console:
            self._process = subprocess.Popen(
                [
                    "systemd-nspawn",
                    "--quiet",
                    "--boot",
                    "--register=no",
                    "--keep-unit",
                    "--link-journal=no",
                    "--console=pipe",
                    f"--directory={self.root}",
                    f"--hostname={self.name}",
                    f"--network-namespace-path=/run/netns/{self.network}",
                ],
                stdin=subprocess.DEVNULL,
                stdout=console,
                stderr=subprocess.STDOUT,
                preexec_fn=self._group.enter,
            )

    def init(self) -> int:
        """The process 1 of the system, as this machine numbers it."""
        children = run("pgrep", "-P", self._process.pid).split()
        return int(children[0])

    def lose_power(self) -> None:
        """Its process 1 takes all others with it, and none of them hears of it."""
        os.kill(self.init(), signal.SIGKILL)
        self._process.wait(SECONDS)
        self._process = None
        self._group.remove()

    def end(self) -> None:
        if self._process is not None:
            with contextlib.suppress(Exception):
                self.lose_power()
        with contextlib.suppress(RuntimeError):
            run("umount", self.root)


class Desk(Board):
    """The user's own machine; it does not boot, and runs shells."""

    def __init__(
        self, base: pathlib.Path, folder: pathlib.Path, network: str, debs: pathlib.Path
    ) -> None:
        super().__init__(DESK, base, folder, network)
        home = self.root / "root"
        shutil.copytree(debs, home / "debs")
        shutil.copy(EXAMPLE / "make_data.py", home)
        (home / ".ssh").mkdir(mode=0o700, exist_ok=True)
        (home / ".ssh/config").write_text(
            "StrictHostKeyChecking accept-new\nLogLevel ERROR\nConnectTimeout 10\n"
        )
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", home / ".ssh/id_ed25519")
        self.key = (home / ".ssh/id_ed25519.pub").read_text()
        self.functions = ""

    def shell(self, text: str, seconds: float = SECONDS) -> str:
        """What a user types there."""
        line = f"cd /root; set -eu\n{self.functions}\n{text}"
        return run(
            "ip",
            "netns",
            "exec",
            self.network,
            "unshare",
            "--mount",
            "bash",
            "-c",
            f"mount -t proc proc {self.root}/proc; mount --bind /dev {self.root}/dev; "
            f"exec chroot {self.root} env -i HOME=/root LANG=C.UTF-8 "
            'PATH=/usr/sbin:/usr/bin:/sbin:/bin bash -c "$0"',
            line,
            seconds=seconds,
        )


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
