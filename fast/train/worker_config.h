#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>

#include "fast/options/session_options.h"
#include "fast/train/evaluation_options.h"
#include "fast/train/learner.h"
#include "fast/train/optimizer_options.h"

namespace fast {

/// The configuration of one worker, as flags, a TOML file or the environment give it; see
/// programs/cli/option_table.h for names and meanings. Value type. Times are in seconds.
struct WorkerConfig {
  /// Its place and its exchange. The worker fills in budget, epochs, data_size, terms, checkpoint,
  /// checkpoint_every, resume, stop and log.
  SessionOptions session{.topology = "torus:2x2", .rank = -1};
  std::string rank_source;          ///< where the rank came from, for people; empty: from an option
  std::string out = "runs/latest";  ///< run folder; this worker writes below worker-RANK/

  // What it trains.
  std::string model = "resnet8";
  std::string data = "synthetic";
  std::string loss = "cross_entropy";
  std::string init;           ///< a saved model to begin with; empty: weights drawn from the seed
  bool init_partial = false;  ///< with what fits of it
  std::string freeze;         ///< see LearnerOptions
  std::string rate_of;        ///< see LearnerOptions
  std::string partition = "iid";
  std::string weighting = "workers";  ///< "workers" | "data": whose steps count alike
  double epochs = 5;                  ///< passes over the training set, by all workers together
  int batch = 32;                     ///< per worker
  OptimizerOptions optimizer;
  std::string schedule = "cosine";
  double warmup = 0.15;  ///< share of the run
  int threads = 1;
  std::size_t memory_before = 0;  ///< see MemoryWatch; not an option
  std::string advice;             ///< of this machine, to be logged; not an option
  std::string begun;              ///< with which weights, to be logged; not an option
  std::string buffers = "mix";    ///< "mix" | "local"; see LearnerOptions::mix_buffers
  bool augment = true;
  EvaluationOptions evaluation{};  ///< while it trains, beside that at its end

  // What it keeps.
  double checkpoint_every = 60;  ///< s; 0: never
  bool fresh = false;            ///< begin anew even where there is a checkpoint

  // When it pauses; see programs/launch/pause_watch.h.
  std::string pause_file;  ///< while it exists; empty: none
  std::string pause_when;  ///< while this command ends with 0; empty: none

  // What it shows.
  std::string log_level = "info";
  /// Of stderr: "plain" | "journal" | "auto", which programs replace by one of these.
  std::string log_style = "auto";
  bool quiet = false;
  double report_every = 1;  ///< seconds between lines of metrics.jsonl
  /// Gets a line on how far the run is each time; the training thread calls it. Not an option.
  std::function<void(const std::string&)> tell{};

  // For experiments.
  double slow = 1;    ///< each step is stretched by this factor
  double jitter = 0;  ///< each step takes up to this share longer, at random
};

/// The options of a learner for examples of this kind.
[[nodiscard]] LearnerOptions learner_options(const WorkerConfig& config,
                                             const ExampleSpec& examples);

/// The configuration of `fast train`: that of its workers, plus options of the launcher.
struct TrainConfig {
  WorkerConfig worker;         ///< rank, listen, peers and out are filled in per worker
  int workers = 0;             ///< 0: as many as the topology has
  std::map<int, double> slow;  ///< rank -> factor
  int restarts = 0;            ///< how often each worker that died is started again
  std::string worker_program;  ///< "" : fast-worker beside this program
};

}  // namespace fast
