#!/usr/bin/env python3
"""Checks the unit by which systemd runs a worker, by systemd's own tools, and the example of its options.

usage: service_unit.py SERVICE_DIR FAST_WORKER

SERVICE_DIR is fast/package/service. The unit must be one that systemd takes without a warning, with
and without what the small worker adds; what it leaves open to a worker that is broken into must stay
at 2.0 of `systemd-analyze security` or better; and each of its variables and of worker.conf's must be
an option of FAST_WORKER.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib

MOST_EXPOSED = 20  # tenths


def run(*command, **more):
    return subprocess.run(command, text=True, capture_output=True, timeout=60, **more)


def unit_text(folder, worker):
    text = (folder / "fast-worker@.service.in").read_text(encoding="utf-8")
    text = text.replace("@CMAKE_INSTALL_FULL_BINDIR@/fast-worker", str(worker))
    return text.replace("@CMAKE_INSTALL_FULL_DATADIR@", "/usr/share")


def judged(text):
    """What systemd finds wrong with a unit."""
    with tempfile.TemporaryDirectory() as folder:
        unit = pathlib.Path(folder) / "fast-worker@x.service"
        unit.write_text(text, encoding="utf-8")
        verify = run("systemd-analyze", "verify", "--man=no", str(unit))
        security = run("systemd-analyze", "security", "--offline=true",
                       f"--threshold={MOST_EXPOSED}", str(unit))
    wrong = [] if verify.returncode == 0 and not verify.stderr.strip() else [verify.stderr]
    if security.returncode != 0:
        wrong.append(security.stdout + security.stderr)
    return wrong


def variables(text):
    return re.findall(r"\bFAST_[A-Z_]+(?==)", text)


def unknown(names, worker):
    """Those that are no option of the worker."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("FAST_")}
    options = tomllib.loads(run(worker, "--print-config", env=clean, check=True).stdout)
    known = {"FAST_" + key.replace("-", "_").upper() for key in options}
    return sorted(set(names) - known)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    folder, worker = pathlib.Path(sys.argv[1]), sys.argv[2]
    text = unit_text(folder, worker)
    small = (folder / "small.conf").read_text(encoding="utf-8").split("[Service]")[1]
    wrong = judged(text) + judged(text.replace("[Service]", "[Service]" + small, 1))
    example = (folder / "worker.conf").read_text(encoding="utf-8")
    named = variables(text) + variables(example)
    wrong += [f"{name} is no option of fast-worker" for name in unknown(named, worker)]
    # That each of these checks can fail:
    for bad in (text.replace("Restart=on-failure", "Restart=often"),
                text.replace("StartLimitIntervalSec", "StartLimit"),
                re.sub(r"^(Protect|Private|Restrict).*\n", "", text, flags=re.M)):
        if not judged(bad):
            wrong.append("a unit that is wrong passes this check")
    if unknown(["FAST_TOPOLOGIE"], worker) != ["FAST_TOPOLOGIE"]:
        wrong.append("a variable that is no option passes this check")
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"the unit and {len(named)} variables are as they should be")


if __name__ == "__main__":
    main()
