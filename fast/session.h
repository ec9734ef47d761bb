#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "fast/adapter.h"
#include "fast/errors.h"
#include "fast/exchange.h"

namespace stencil {
class InprocNetwork;
}

namespace fast {

/// How a worker takes part. Every field but `topology`, `rank` and the addresses may stay as it is.
struct SessionOptions {
  std::string topology = "ring:1";
  int rank = 0;
  std::string run_id = "fast";               ///< workers of different runs refuse each other
  std::string listen = "tcp://127.0.0.1:0";  ///< port 0: handed out by the system
  std::map<int, std::string> peers;          ///< rank -> endpoint; one end of each edge suffices
  std::string peers_file;     ///< lines "RANK ENDPOINT", read anew while one is missing
  std::string peer_template;  ///< "tcp://worker-{rank}:5555"

  std::string mode = "async";  ///< "async" | "bounded:K" | "sync"
  /// "fp32" | "fp16" | "bf16" | "int8" | "int4" | "topk:F"; see stencil/codec/codecs.h
  std::string codec = "fp32";
  /// "auto": with neighbours on this host in shared memory (but in mode sync) | "tcp": never
  std::string transport = "auto";
  /// Passes over the model begun per step, each with one neighbour; a fraction means every few
  /// steps. Nothing: as many as the topology asks for, see stencil/core/usual_sweeps.h.
  std::optional<double> sweeps;
  /// Share of a step that a boundary waits for its own sweeps at most; not in mode sync. See
  /// stencil/runtime/linger.h.
  double linger = 0.1;
  /// Share of a step that a boundary waits, in the mean, for neighbours that are about to end
  /// theirs; not in mode sync, nor without `linger`. See stencil/runtime/phase_lock.h.
  double phase_lock = 0.15;
  /// Threads, the training thread among them, that share a boundary's work on a model of a million
  /// floats or more.
  int mix_threads = 1;
  int bucket_kib = 0;  ///< 0: what suits the model, see Layout::suitable_bucket()
  int window = 4;      ///< buckets in flight per neighbour

  std::uint64_t budget = 0;     ///< samples over all workers after which done(); 0: no end
  std::uint64_t data_size = 0;  ///< examples held here, for the network's knowledge
  std::uint64_t seed = 1;
  bool init_from_neighbour = false;

  double suspect_after = 3, gone_after = 60;  ///< seconds of silence
  double start_deadline = 60;                 ///< how long to wait for a first neighbour
  double wait_deadline = 60;                  ///< bounded and sync: longest wait for a neighbour
  double settle_target = 1e-3;                ///< consensus distance to reach at the end
  double settle_deadline = 30;

  /// Where given and true, every wait for a neighbour ends at once: set it to stop early. Must
  /// outlive the session; may be set by a signal handler.
  const std::atomic<bool>* stop = nullptr;

  /// Called from the training and the background thread; must not block.
  stencil::LogSink log = [](stencil::LogLevel, std::string_view) {};
  /// For "inproc://": workers in one process that share it can meet.
  std::shared_ptr<stencil::InprocNetwork> inproc;
};

/// What a training loop calls: one exchange() per step.
///
///     fast::Session session(adapter, {.topology = "torus:2x2", .rank = 0, ...});
///     while (!session.done()) {
///       ... forward, backward, optimizer.step() ...
///       session.exchange({.samples = 32, .loss = loss});
///     }
///     session.finish();
///
/// Owns the background thread, the sockets and the exchange's memory (two copies of the model).
/// Once under way, and while no neighbour comes or goes, neither exchange() nor the background
/// thread allocates.
/// All methods belong to the training thread, except endpoint() and status().
class Session final : public Exchange {
 public:
  /// Binds its address and begins to look for its neighbours at once. `adapter` must outlive the
  /// session, and its model stay the same. Throws ConfigError (NetworkError for the address),
  /// AdapterError.
  Session(ModelAdapter& adapter, SessionOptions options);
  /// Leaves in good order: lets neighbours settle what is under way (2 s at most), says good-bye.
  ~Session() override;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Waits until this worker may begin: its neighbours begin too, or a model was copied from one
  /// that is ahead. After `start_deadline` it begins alone (sync: DeadlineError). Called by the
  /// first exchange() where it was not before. Throws RefusedError.
  void join() override;

  /// The step boundary: takes in what neighbours agreed on since the last one and shows them the
  /// model as it is now. In mode async it never waits but for shares of a step, options.linger and
  /// options.phase_lock. Throws
  /// NonFiniteError, AdapterError, and in the other modes DeadlineError, naming the neighbour
  /// waited for.
  void exchange(const StepReport& report) override;

  /// The budget is used, counted over all workers.
  [[nodiscard]] bool done() const { return progress() >= 1; }
  /// Share of the budget used by all workers together, as gossip tells; 0 without a budget.
  [[nodiscard]] double progress() const override;
  /// Decayed mean of the loss over all workers; what this worker knows of it.
  [[nodiscard]] double network_loss() const override;

  /// Trains no more: averages on until neighbours agree (or the deadline passes), then fixes the
  /// model, which from here on no one changes. True when agreement was reached.
  bool finish() override;

  /// Where neighbours can dial this worker. Any thread.
  [[nodiscard]] std::string endpoint() const override;
  /// A recent picture of the exchange. Any thread; allocates.
  [[nodiscard]] stencil::PumpStatus status() const override;
  /// Seconds the training thread has spent in exchange().
  [[nodiscard]] double exchange_seconds() const;
  [[nodiscard]] std::uint64_t steps() const;
  /// The rank whose model this worker copied when it joined, if any.
  [[nodiscard]] std::optional<int> joined_from() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fast
