"""Links between the workers of one machine that can be cut, for benchmarks. Linux, as root or under
`unshare -r`."""
import os
import subprocess
import time

PORT = 5555


class Links:
    """A network namespace for each worker, and a veth pair for each edge. Use it with `with`."""

    def __init__(self, workers, edges):
        self._edges = [tuple(edge) for edge in edges]
        self._places = []
        ours = os.readlink("/proc/self/ns/net")
        try:
            for _ in range(workers):
                self._places.append(subprocess.Popen(["unshare", "--net", "sleep", "infinity"]))
            deadline = time.monotonic() + 10
            for rank, place in enumerate(self._places):
                while os.readlink(f"/proc/{place.pid}/ns/net") == ours:
                    if place.poll() is not None or time.monotonic() > deadline:
                        raise OSError("no network namespace can be made; run it as root, or under "
                                      "unshare -r")
                    time.sleep(0.01)
                self._ip(rank, "link", "set", "lo", "up")
            for number, (a, b) in enumerate(self._edges):
                subprocess.run(["ip", "link", "add", "name", f"edge{number}", "netns",
                                str(self._places[a].pid), "type", "veth", "peer", "name",
                                f"edge{number}", "netns", str(self._places[b].pid)], check=True)
                for rank in (a, b):
                    self._ip(rank, "address", "add", f"{self._address(number, rank)}/24", "dev",
                             f"edge{number}")
                    self._ip(rank, "link", "set", f"edge{number}", "up")
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Ends the namespaces, once nothing runs in them."""
        for place in self._places:
            place.kill()
            place.wait()

    def edges(self):
        return list(range(len(self._edges)))

    def cut(self, edge):
        self._ip(self._edges[edge][0], "link", "set", f"edge{edge}", "down")

    def mend(self, edge):
        self._ip(self._edges[edge][0], "link", "set", f"edge{edge}", "up")

    def command(self, rank, words):
        """`words`, to be run where worker `rank` is."""
        return ["nsenter", "--net", "--target", str(self._places[rank].pid), *words]

    def worker_words(self, rank):
        """What tells a worker where it listens, and where its neighbours do."""
        words = ["--listen", f"tcp://0.0.0.0:{PORT}", "--insecure"]
        for number, edge in enumerate(self._edges):
            if rank in edge:
                other = edge[1] if edge[0] == rank else edge[0]
                words += ["--peer", f"{other}=tcp://{self._address(number, other)}:{PORT}"]
        return words

    def _address(self, edge, rank):
        return f"10.{edge // 250}.{edge % 250}.{1 + self._edges[edge].index(rank)}"

    def _ip(self, rank, *words):
        subprocess.run(self.command(rank, ["ip", *words]), check=True)
