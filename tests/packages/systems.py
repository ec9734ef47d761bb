"""Debians that systemd boots in namespaces of their own (systemd-nspawn), on a bridge. As root."""

import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
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
