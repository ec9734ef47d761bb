#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "fast/adapter.h"
#include "fast/errors.h"
#include "fast/session/exchange.h"
#include "fast/session/session_options.h"
#include "fast/session/status.h"

namespace fast {

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
  /// session, and its model stay the same. Goes on from `options.resume`: the adapter's model and
  /// what is attached to it are then as they were saved. Throws ConfigError (NetworkError for the
  /// address), AdapterError, FileError for a checkpoint that is damaged or of another run.
  Session(ModelAdapter& adapter, SessionOptions options);
  /// Leaves in good order: lets neighbours settle what is under way (2 s at most), says good-bye.
  /// In a process that was forked off it does nothing: the parent's session goes on.
  ~Session() override;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Waits until this worker may begin: its neighbours begin too, or a model was copied from one
  /// that is ahead. After `start_deadline` it begins alone (sync: DeadlineError). The first
  /// exchange() calls it where nobody has. Throws RefusedError.
  void join() override;

  /// The step boundary: takes in what neighbours agreed on since the last one and shows them the
  /// model as it is now. In mode async it waits for no longer than the shares of a step that
  /// `linger` and `phase_lock` allow. Throws NonFiniteError, AdapterError, and in the other modes
  /// DeadlineError, which names the neighbour that it waited for; OrderError after finish().
  void exchange(const StepReport& report) override;

  /// The budget is used, counted over all workers.
  [[nodiscard]] bool done() const { return progress() >= 1; }
  /// Share of the budget used by all workers together, as gossip tells; 0 without a budget.
  [[nodiscard]] double progress() const override;
  /// Decayed mean of the loss over all workers; what this worker knows of it.
  [[nodiscard]] double network_loss() const override;

  /// Training is over: averages on until neighbours agree (or the deadline passes), then fixes the
  /// model, which from here on no one changes. Once more it returns the same.
  Agreement finish() override;

  /// Saves now, as `SessionOptions::checkpoint` says, into `file`. Between two exchange(), never in
  /// the middle of a step. Copies the state and returns; a thread writes it, which the destructor
  /// waits for. A file that cannot be written is named in the log.
  void save(const std::filesystem::path& file);

  /// Where neighbours can dial this worker. Any thread.
  [[nodiscard]] std::string endpoint() const override;
  /// A recent picture of the exchange. Any thread; allocates.
  [[nodiscard]] SessionStatus status() const override;
  /// Seconds the training thread has spent in exchange().
  [[nodiscard]] double exchange_seconds() const;
  /// Steps so far, those before a resumption included.
  [[nodiscard]] std::uint64_t steps() const;
  /// The rank whose model this worker copied when it joined, if any.
  [[nodiscard]] std::optional<int> joined_from() const;
  [[nodiscard]] int rank() const;
  /// Workers in the topology.
  [[nodiscard]] int size() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fast
