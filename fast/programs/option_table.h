#pragma once

#include "fast/config.h"
#include "fast/programs/options.h"

namespace fast {

/// The one list of options: names, units and meanings. `visit(names, value, unit, help)` is called
/// for each option of `set` in the order of the help, `visit.group(title)` before each group.
/// Names are CLI11's: the first is the key of the file; "!--no-x" is a flag's opposite.
template <typename Visitor>
void visit_options(TrainConfig& config, OptionSet set, Visitor& visit) {
  WorkerConfig& w = config.worker;
  const bool worker = set == OptionSet::kWorker;
  const bool train = set == OptionSet::kTrain;

  visit.group("Where it stands");
  visit("--topology", w.topology, "SPEC",
        "ring:N, torus:AxB[xC], grid:AxB[xC] (:moore for diagonal neighbours too), complete:N or "
        "edges:FILE");
  visit("--workers", config.workers, "N",
        "how many workers; 0: as many as the topology has, and nothing else is accepted");
  if (worker) {
    visit("--rank", w.rank, "RANK",
          "this worker's place, from 0; -1: from SLURM_PROCID, OMPI_COMM_WORLD_RANK or the host "
          "name's last number (worker-3)");
    visit("--run-id", w.run_id, "NAME", "workers of another run id are refused");
    visit("--listen", w.listen, "ENDPOINT",
          "tcp://HOST:PORT; port 0: one that is free, published in worker-RANK/endpoint; empty: "
          "only dial");
    visit("--peer", w.peers, "RANK=ENDPOINT",
          "where a neighbour listens (repeatable); one end of each edge suffices");
    visit("--peers", w.peers_file, "FILE",
          "lines RANK ENDPOINT, read again while neighbours are missing");
    visit("--peer-template", w.peer_template, "TEMPLATE",
          "tcp://worker-{rank}:5555, or file:RUN/worker-{rank}/endpoint for a file that holds it");
  }
  visit("--out,-o", w.out, "DIR", "run folder");

  visit.group("What it trains");
  visit("--model,-m", w.model, "NAME", "linear, mlp, resnet8, resnet20 or resnet18");
  visit("--data,-d", w.data, "SPEC",
        "synthetic[:TRAIN[,TEST]] (generated), cifar10:DIR (binary format) or mnist:DIR (IDX)");
  visit("--partition", w.partition, "NAME",
        "who gets which examples: iid, dirichlet:ALPHA, by-label or own (all that is here)");
  visit("--epochs,-e", w.epochs, "EPOCHS", "passes over the training set, by all workers together");
  visit("--batch,-b", w.batch, "EXAMPLES", "examples per step and worker");
  visit("--optimizer", w.optimizer.name, "NAME", "sgd (with momentum) or adamw");
  visit("--learning-rate,--lr", w.optimizer.learning_rate, "RATE",
        "at its highest; not scaled by the number of workers");
  visit("--momentum", w.optimizer.momentum, "SHARE", "of sgd; 0 <= SHARE < 1");
  visit("--nesterov,!--no-nesterov", w.optimizer.nesterov, "",
        "sgd's momentum looks ahead, which bears that workers are out of step");
  visit("--momentum-correction", w.optimizer.momentum_correction, "SHARE",
        "of what neighbours moved the model by that goes into sgd's momentum: 0 to 1; less where "
        "averages are rare");
  visit("--weight-decay", w.optimizer.weight_decay, "RATE", "pull towards zero");
  visit("--schedule", w.schedule, "NAME",
        "learning rate over the run: constant, cosine or step:FACTOR@P1,P2,... (P: share of the "
        "run)");
  visit("--warmup", w.warmup, "SHARE", "share of the run over which the rate rises from 0");
  visit("--seed", w.seed, "NUMBER", "of initial weights, shards and order; the same everywhere");
  visit("--threads", w.threads, "THREADS",
        "compute threads per worker; 0: the cores shared out, at least 1");
  visit(
      "--buffers", w.buffers, "HOW",
      "BatchNorm statistics, which each worker takes of its own shard when training is over: mix: "
      "averaged with everybody's; local: kept");
  visit("--augment,!--no-augment", w.augment, "",
        "random crops and mirror images, where customary");

  visit.group("How it exchanges");
  visit("--mode", w.mode, "MODE",
        "async, bounded:K (nobody more than K steps ahead of a neighbour) or sync (lock step)");
  visit(
      "--codec", w.codec, "NAME",
      "numbers on the wire: fp32, fp16, bf16, int8 (differences; values as fp16), int4 (a third of "
      "that: differences, and of values the last bits) or topk:F (the part F <= 0.5 that moved "
      "most; one more copy of the model per neighbour; not in mode sync)");
  visit("--transport", w.transport, "HOW",
        "auto: neighbours on one host in shared memory (but in mode sync); tcp: never");
  visit("--sweeps", w.sweeps, "COUNT",
        "passes over the model begun per step, each with one neighbour; 0.25: one every 4 steps; "
        "auto: 1 to 6, the fewer the better the topology is connected");
  visit("--linger", w.linger, "SHARE",
        "of a step that a boundary waits at most for the sweeps it begins, where links are quick "
        "enough for a quarter of them, so that models are averaged before the next gradient; 0: "
        "never");
  visit(
      "--phase-lock", w.phase_lock, "SHARE",
      "of its time that a worker waits at most for neighbours that are about to end their step, so "
      "that workers of one speed stay in step; for who is slower by more than this share nobody "
      "waits; 0, or --linger 0: never");
  visit("--overlap,!--no-overlap", w.overlap, "",
        "make each step part by part in the backward pass and exchange what is made meanwhile, so "
        "that less is left to wait for; torch models in mode async");
  visit("--mix-threads", w.mix_threads, "THREADS",
        "share a boundary's work on models of a million numbers or more, where cores are free");
  visit("--bucket-kib", w.bucket_kib, "KIB",
        "size of the pieces in which a model travels; 0: by its size");
  visit("--window", w.window, "BUCKETS", "in flight at once per sweep");
  visit("--suspect-after", w.suspect_after, "SECONDS",
        "a neighbour silent for so long is not asked");
  visit("--gone-after", w.gone_after, "SECONDS", "a neighbour silent for so long is given up");
  visit("--wait-deadline", w.wait_deadline, "SECONDS",
        "bounded and sync: longest wait for a neighbour");
  visit("--start-deadline", w.start_deadline, "SECONDS", "longest wait for a first neighbour");
  visit("--settle-target", w.settle_target, "DISTANCE",
        "relative distance from the mean model aimed at after training");
  visit("--settle-deadline", w.settle_deadline, "SECONDS", "longest time spent on that");
  visit("--init-from-neighbour", w.init_from_neighbour, "",
        "take a neighbour's weights at the start instead of refusing other ones");

  visit.group("What it shows");
  visit("--log-level", w.log_level, "LEVEL", "debug, info, warning or error");
  visit("--quiet,-q", w.quiet, "", "no progress, only warnings and the result");
  visit("--report-every", w.report_every, "SECONDS", "between two lines of metrics.jsonl");

  visit.group("For experiments");
  visit("--slow", config.slow, "RANK:FACTOR", "stretch that worker's steps (repeatable)");
  visit("--jitter", w.jitter, "SHARE", "stretch each step by up to this share, at random");
  if (train) {
    visit("--worker-program", config.worker_program, "FILE",
          "the fast-worker to start; empty: the one beside this program");
  }
}

}  // namespace fast
