"""How each kind exchanges: what to do around a backward pass that is the same for all."""

import pathlib
import sys
import time

import torch

OURS = {
    "ours": {},
    "boundary": {"by_layer": False},
    "not ahead": {"fold_ahead": False},
    "one sweep": {"sweeps": 1},
    "phase 0": {"phase_lock": 0},
    "linger 0": {"linger": 0},
    "uncorrected": {"momentum_correction": 0},
}
TRANSPORTS = {
    "shared": {},
    "zmq": {"transport": "zmq", "share_memory": "never"},
    "tcp": {"transport": "tcp", "share_memory": "never"},
}


def sgd(parameters):
    return torch.optim.SGD(parameters, lr=1e-3, momentum=0.9)


class Alone:
    """No exchange; the others are this with an exchange."""

    def __init__(self, model):
        self.model = model
        self.optimizer = sgd(model.parameters())

    def step(self, loss):
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()

    def exchange_seconds(self):
        """In all so far: of the loop's thread, and of that what the library has taken."""
        return 0.0, 0.0

    def end(self):
        """Checks that it was what it is called."""


class Ours(Alone):
    def __init__(self, model, rank, workers, folder, transport, options):
        super().__init__(model)
        import fast_training as fast

        def address(of):
            if transport == "shared":
                return f"ipc://{folder}/{of}"
            return (folder / f"port-{of}").read_text()

        self.transport, self.called = transport, 0.0
        self.session = fast.join(
            model,
            self.optimizer,
            topology=f"ring:{workers}",
            rank=rank,
            listen=address(rank),
            peers={other: address(other) for other in range(workers)},
            **TRANSPORTS[transport],
            **options,
        )

    def step(self, loss):
        super().step(loss)
        before = time.monotonic()
        self.session.exchange(loss=loss)
        self.called += time.monotonic() - before

    def exchange_seconds(self):
        return self.called, self.session.exchange_seconds()

    def end(self):
        shared = [one.shared for one in self.session.neighbours()]
        if not all(one == (self.transport == "shared") for one in shared):
            sys.exit(f"a neighbour is not reached by {self.transport}")


def join_gloo(rank, workers, folder):
    torch.distributed.init_process_group(
        "gloo", init_method=f"file://{folder}/store", rank=rank, world_size=workers
    )


class Ddp(Alone):
    def __init__(self, model, rank, workers, folder):
        join_gloo(rank, workers, folder)
        super().__init__(torch.nn.parallel.DistributedDataParallel(model))


class Decent(Alone):
    """Steps by itself, in the backward pass."""

    def __init__(self, model, rank, workers, folder):
        from decent_dp.ddp import DecentralizedDataParallel

        join_gloo(rank, workers, folder)
        self.model = DecentralizedDataParallel(
            model,
            lambda named: sgd([parameter for _, parameter in named]),
            topology="complete" if workers == 2 else "ring",
            _local_world_size=1,
        )

    def step(self, loss):
        loss.backward()
        self.model.zero_grad()


class Hivemind(Alone):
    """Parameters are averaged in the background, each time all together have made a step."""

    def __init__(self, model, rank, workers, folder, batch):
        super().__init__(model)
        import hivemind

        meeting = folder / "first"
        first = rank == 0
        dht = hivemind.DHT(initial_peers=None if first else wait_for(meeting).split(), start=True)
        if first:
            written = folder / "first.new"
            written.write_text("\n".join(map(str, dht.get_visible_maddrs())))
            written.rename(meeting)
        self.optimizer = hivemind.Optimizer(
            dht=dht,
            run_id="bench",
            batch_size_per_step=batch,
            target_batch_size=batch * workers,
            optimizer=self.optimizer,
            use_local_updates=True,
            matchmaking_time=1.0,
            averaging_timeout=10.0,
        )
        self.dht = dht

    def end(self):
        """Its processes would outlive this one, and hold its output open."""
        print("hivemind is in round", self.optimizer.local_epoch, file=sys.stderr, flush=True)
        self.optimizer.shutdown()
        self.dht.shutdown()


def wait_for(file, seconds=60):
    """The text of a file that another process renames to its name."""
    until = time.monotonic() + seconds
    while not file.exists():
        if time.monotonic() > until:
            sys.exit(f"{file} has not come in {seconds} s")
        time.sleep(0.05)
    return file.read_text()


def begin(kind, model, rank, workers, folder, transport, batch):
    folder = pathlib.Path(folder)
    if kind in OURS:
        return Ours(model, rank, workers, folder, transport, OURS[kind])
    if kind == "ddp":
        return Ddp(model, rank, workers, folder)
    if kind == "decent":
        return Decent(model, rank, workers, folder)
    if kind == "hivemind":
        return Hivemind(model, rank, workers, folder, batch)
    return Alone(model)
