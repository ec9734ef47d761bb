"""What processes take."""

import contextlib
import os
import threading


class Watch:
    """The most descriptors and memory of processes, until it is closed."""

    def __init__(self, pids: list[int]) -> None:
        self.pids, self.over = pids, threading.Event()
        self.descriptors, self.kib = [0] * len(pids), [0] * len(pids)
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self) -> None:
        while not self.over.wait(0.05):
            for at, pid in enumerate(self.pids):
                with contextlib.suppress(OSError):
                    self.descriptors[at] = max(
                        self.descriptors[at], len(os.listdir(f"/proc/{pid}/fd"))
                    )
                    with open(f"/proc/{pid}/status", encoding="utf-8") as status:
                        for line in status:
                            if line.startswith("VmHWM:"):
                                self.kib[at] = int(line.split()[1])

    def close(self) -> None:
        self.over.set()
        self.thread.join()
