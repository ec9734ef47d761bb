#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fast/learner.h"

namespace fast {

/// Everything one worker needs to know, as flags, a TOML file or the environment give it; see
/// programs/options.h for the parsing. Value type. Times are seconds.
struct WorkerConfig {
  // Where it stands.
  std::string topology = "torus:2x2";
  int rank = -1;
  std::string run_id = "fast";
  std::string listen = "tcp://127.0.0.1:0";
  std::map<int, std::string> peers;  ///< rank -> endpoint; one end of each edge suffices
  std::string peers_file;            ///< lines "RANK ENDPOINT", read again while peers are missing
  std::string peer_template;         ///< "tcp://worker-{rank}:5555"
  std::string out = "runs/latest";   ///< run folder; this worker writes below worker-RANK/

  // What it trains.
  std::string model = "resnet8";
  std::string data = "synthetic";
  std::string partition = "iid";
  double epochs = 5;  ///< of the whole training set, by all workers together
  int batch = 32;     ///< per worker
  OptimizerOptions optimizer;
  std::string schedule = "cosine";
  double warmup = 0.15;  ///< share of the run
  std::uint64_t seed = 1;
  int threads = 1;
  std::string buffers = "mix";  ///< "mix" | "local"; see LearnerOptions::mix_buffers
  bool augment = true;

  // How it exchanges.
  std::string mode = "async";  ///< "async" | "bounded:K" | "sync"
  std::string codec = "fp32";
  std::string transport = "auto";  ///< "auto": shared memory within a host | "tcp"
  std::optional<double> sweeps;    ///< begun per step; 0.25: one every four; nothing: auto
  double linger = 0.1;             ///< share of a step that a boundary waits for its sweeps
  double phase_lock = 0.15;        ///< and for neighbours that are about to end theirs
  bool overlap = true;             ///< exchange begins in the backward pass, in mode async
  int mix_threads = 1;             ///< share a boundary's work on large models
  int bucket_kib = 0;              ///< 0: what suits the model, 16 to 256
  int window = 4;                  ///< buckets in flight per sweep
  double suspect_after = 3;
  double gone_after = 60;
  double wait_deadline = 60;    ///< bounded and sync: longest wait for a neighbour
  double start_deadline = 60;   ///< how long to wait for a first neighbour before training alone
  double settle_target = 1e-3;  ///< consensus distance aimed at after training
  double settle_deadline = 30;
  bool init_from_neighbour = false;

  // What it shows.
  std::string log_level = "info";
  bool quiet = false;
  double report_every = 1;  ///< seconds between lines of metrics.jsonl

  // For experiments.
  double slow = 1;    ///< each step is stretched by this factor
  double jitter = 0;  ///< each step takes up to this share longer, at random
};

/// `fast train`: the same for all its workers, plus what only the launcher knows.
struct TrainConfig {
  WorkerConfig worker;         ///< rank, listen, peers and out are filled in per worker
  int workers = 0;             ///< 0: as many as the topology has
  std::map<int, double> slow;  ///< rank -> factor
  std::string worker_program;  ///< "" : fast-worker beside this program
};

}  // namespace fast
