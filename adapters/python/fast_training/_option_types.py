"""The options of a session. Made by make_option_types.py; not to be edited."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TypedDict


class Options(TypedDict, total=False):
    """Options of a session, by the names and values of the command line. One that is not given, or
    None, comes from its environment variable (FAST_TOPOLOGY for topology).

    topology: ring:N, torus:AxB[xC][:moore], grid:AxB[xC][:moore], complete:N, edges:FILE;
        :moore adds diagonal neighbours (default: ring:1)
    rank: this worker's place, from 0 (default: 0)
    run_id: workers of another run id are refused (default: fast)
    listen: HOST:PORT, or with a scheme, zmq://HOST:PORT, zmq+ipc://PATH, tcp://HOST:PORT,
        ipc://PATH, inproc://NAME; host *: all interfaces; port 0: one that is free, published
        in worker-RANK/endpoint; empty: only dial (default: 127.0.0.1:0)
    peer: where a neighbour listens (repeatable); one end of each edge suffices
    peers: lines RANK ENDPOINT, read again while neighbours are missing
    peer_template: worker-{rank}:5555, or file:RUN/worker-{rank}/endpoint for a file that holds
        it
    keys: folder of rank-RANK.key and public.keys, as 'fast keys' makes it: every link between
        workers is encrypted and both its ends are proven
    key: instead of --keys: this worker's key file
    public_keys: with --key: everybody's public keys
    run_keys: a folder of keys that a launcher has made for this run; all other keys come before
        it
    insecure: without keys, on a machine or network that you trust: listen to other hosts all
        the same, and let launchers make none (default: false)
    budget: samples over all workers after which training is over; 0: no end (default: 0)
    epochs: or passes over the data_size examples of each worker after which training is over;
        0: see budget (default: 0)
    data_size: held by this worker (default: 0)
    seed: seed of initial weights, shards and order; the same everywhere (default: 1)
    means: numbers of which workers learn the mean, by name, such as accuracy,val_loss; alike at
        all workers
    checkpoint: where all is saved that it takes to go on, every checkpoint_every seconds and
        when training is over; {rank} stands for the rank; empty: nowhere
    checkpoint_every: time between two checkpoints of a worker, from which the same command
        resumes; 0: never (default: 60)
    keep_checkpoints: keep the last COUNT checkpoints, too, by their steps:
        checkpoint.1200.safetensors; to go back to one, put it in the place of
        checkpoint.safetensors, at all workers alike (default: 0)
    resume: the checkpoint to go on from, if it exists
    out: run folder, where the session leaves metrics and its model, in worker-RANK, for 'fast
        report'; empty: nowhere
    record: at the end, what the exchange saw and decided last, for 'fast replay'; {rank} stands
        for the rank; empty: nothing is recorded
    record_seconds: how much of the end a recording holds at least (default: 60)
    mode: async, bounded:K (nobody more than K steps ahead of a neighbour) or sync (lock step)
        (default: async)
    codec: numbers on the wire: fp32, fp16, bf16, int8, int4, topk:F; int8 sends differences in
        8 bits and values as fp16; int4 differences in 4, and of values the last bits; topk the
        part F <= 0.5 that moved most (one more copy of the model per neighbour; not in mode
        sync) (default: fp32)
    transport: transport of addresses without a scheme, with keys or without; zmq: ZeroMQ; tcp:
        bare sockets, with keys TLS 1.3, which takes less time; auto: zmq (default: auto)
    share_memory: auto: neighbours on one host average in each other's memory (but in mode
        sync); never: over the transport, as others do (default: auto)
    packet_bytes: the longest IP packet that links send, where a path drops longer ones without
        a word, as some tunnels do, e.g. 1200; over ZeroMQ the worker that is dialled decides;
        65535: as the interfaces say (default: 65535)
    sweeps: passes over the model begun per step, each with one neighbour; 0.25: one every 4
        steps; auto: 1 to 8, the fewer the better the topology is connected (default: auto)
    linger: share of a step that a boundary waits at most for its sweeps, where links bring back
        a quarter of them in that time, so that models are averaged before the next gradient; 0:
        never (default: 0.1)
    phase_lock: share of its time that a worker waits at most for neighbours that are about to
        end their step, so that workers of one speed stay in step; nobody waits for a neighbour
        that is slower by more than this share; 0, or linger 0: never (default: 0.15)
    overlap: exchange begins in the backward pass: a step is computed part by part there, and
        each part is exchanged while the next is computed; torch models in mode async (default:
        true)
    by_layer: a layer takes in averages just before the next step uses it, and no boundary waits
        for them, where models ask for their layers, as those of PyTorch do; modes async and
        bounded (default: true)
    fold_ahead: where a step asks for its layers, the exchange's own thread adds averages to a
        layer that the step has yet to use, so that the training thread need not (default: true)
    mix_threads: threads that share a boundary's work on models of a million numbers or more,
        where cores are free; the training thread is one of them (default: 1)
    bucket_kib: size of a bucket, the piece in which a model travels; 0: 16 to 256, by the size
        of the model (default: 0)
    window: the most buckets in flight per sweep (default: 4)
    memory_budget: all that a worker may hold for the exchange beside its model, checkpoints
        included, e.g. 64MB, and fast-worker with its data, model, gradients and optimizer:
        window and queues follow from it, and less than is needed is refused; 0: no bound
        (default: 0)
    max_rate: the most that a worker sends over all links together, e.g. 2Mbit/s or 250kB/s:
        models wait for their turn, nothing is dropped; 0: no bound (default: 0)
    data_cap: the most that a worker sends and receives, over all links together, in an hour,
        day, week or month of its own time, e.g. 2GB/day: whoever is ahead of that exchanges
        more rarely, or not at all for a while. Shared memory is no data. 0: no bound (default:
        0)
    suspect_after: a neighbour that is silent for so long is not asked for averages (default: 3)
    gone_after: a neighbour that is silent for so long is given up (default: 60)
    wait_deadline: bounded and sync: longest wait for a neighbour that is not heard of (default:
        60)
    busy_deadline: longest wait for a neighbour that is heard of, but makes no step (default:
        600)
    start_deadline: longest wait for a first neighbour; 0: for ever (default: 60)
    settle_target: relative distance from the mean model aimed at after training (default:
        0.001)
    settle_deadline: longest time spent on settling when training is over everywhere (default:
        30)
    wait_at_end: how long to wait, when training is over, for neighbours that are away (default:
        0)
    initial: lowest: before the first step all workers take over the initial weights of the
        lowest rank, passed on from neighbour to neighbour; same: weights that differ are
        refused (default: lowest)
    """

    topology: str | os.PathLike[str] | None
    rank: float | None
    run_id: str | os.PathLike[str] | None
    listen: str | os.PathLike[str] | None
    peer: str | Mapping[int, str] | None
    peers: str | os.PathLike[str] | Mapping[int, str] | None
    peer_template: str | os.PathLike[str] | None
    keys: str | os.PathLike[str] | None
    key: str | os.PathLike[str] | None
    public_keys: str | os.PathLike[str] | None
    run_keys: str | os.PathLike[str] | None
    insecure: bool | None
    budget: float | None
    epochs: float | None
    data_size: float | None
    seed: float | None
    means: str | Sequence[str] | None
    checkpoint: str | os.PathLike[str] | None
    checkpoint_every: float | None
    keep_checkpoints: float | None
    resume: str | os.PathLike[str] | None
    out: str | os.PathLike[str] | None
    record: str | os.PathLike[str] | None
    record_seconds: float | None
    mode: str | os.PathLike[str] | None
    codec: str | os.PathLike[str] | None
    transport: str | os.PathLike[str] | None
    share_memory: str | os.PathLike[str] | None
    packet_bytes: float | None
    sweeps: str | float | None
    linger: float | None
    phase_lock: float | None
    overlap: bool | None
    by_layer: bool | None
    fold_ahead: bool | None
    mix_threads: float | None
    bucket_kib: float | None
    window: float | None
    memory_budget: str | int | None
    max_rate: float | None
    data_cap: float | None
    suspect_after: float | None
    gone_after: float | None
    wait_deadline: float | None
    busy_deadline: float | None
    start_deadline: float | None
    settle_target: float | None
    settle_deadline: float | None
    wait_at_end: float | None
    initial: str | os.PathLike[str] | None
