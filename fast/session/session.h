#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fast/adapter.h"
#include "fast/errors.h"
#include "fast/options/session_options.h"
#include "fast/session/exchange.h"
#include "fast/session/status.h"
#include "stencil/core/grid.h"

namespace fast {

class RunWriter;

/// The interface of a training loop: one exchange() per step.
///
///     fast::Session session(adapter, fast::SessionOptions::from_environment());
///     while (!session.done()) {
///       ... forward, backward, optimizer.step() ...
///       session.exchange({.samples = 32, .loss = loss});
///     }
///     session.finish();
///
/// Owns the background thread, the sockets and the exchange's memory (two copies of the model).
/// After the first steps, and while no neighbour comes or goes, neither exchange() nor the
/// background thread allocates, but for the line a second that `options.out` asks for. All methods
/// belong to the training thread, except endpoint() and status().
class Session final : public Exchange, public Decisions {
 public:
  /// Binds its address and begins to look for its neighbours at once. `adapter` must outlive the
  /// session, and must keep the same model. Where the file `options.resume` exists, the session
  /// resumes from it: the adapter's model and the parts attached to it are then as they were saved.
  /// Throws ConfigError (NetworkError for the address), AdapterError, FileError for a checkpoint
  /// that is damaged or of another run, or a folder `options.out` that cannot be written.
  Session(ModelAdapter& adapter, SessionOptions options);
  /// As a worker that comes to a grid that has changed: `grid` is that of the others with this
  /// worker added, and began as `options.topology`. They may add it until `start_deadline`.
  Session(ModelAdapter& adapter, SessionOptions options, const stencil::Grid& grid);
  /// Leaves in good order: lets neighbours complete what is in flight (2 s at most), then sends
  /// Leave. In a forked child it does nothing: the parent's session goes on.
  ~Session() override;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Waits until this worker may begin: its neighbours begin too, or it has copied the model of one
  /// that is ahead. After `start_deadline` (0: never) it begins alone (sync: DeadlineError). The
  /// first exchange() calls join() if the caller has not. Throws RefusedError.
  void join() override;

  /// The step boundary: folds what was agreed with neighbours since the last one, and shows them
  /// the present model. In mode async it waits no longer than the shares of a step that `linger`
  /// and `phase_lock` allow. Throws NonFiniteError, AdapterError, and in the other modes
  /// DeadlineError, which names the neighbour that it waited for. Throws OrderError after finish().
  void exchange(const StepReport& report) override;

  /// Optional. The next step is about to use `count` values of the model from `first` on, and has
  /// not used them yet: takes in what has been agreed on for these since the boundary, waiting for
  /// what is just coming as a boundary would. Where each step asks so for its layers, one after the
  /// other, boundaries wait for no averages: those of a layer have the time until then to come.
  /// What nobody asks for is taken in at the next boundary. It goes over whole buckets, which may
  /// reach into the layers before and behind; each is gone over once in a step, and in the middle
  /// of the backward pass none is. Nothing happens in mode sync. Throws AdapterError.
  ///
  /// Where the model's memory is exchanged in place, a part that one step has asked for belongs to
  /// the background thread from the end of exchange() until the next step asks for it, so that what
  /// comes is added there (SessionOptions, `fold_ahead`). Ask for it before it is changed, or call
  /// changing(); who reads it without gets each value from before or after an average.
  void needed(std::size_t first, std::size_t count);
  /// Only for who calls needed(): the training thread is about to change parts of the model that
  /// this step has not asked for, as an optimizer does with layers that were not used. All of it is
  /// the training thread's until the end of exchange().
  void changing();

  /// Whether all workers together have used the budget, as has been heard by now: a worker that
  /// makes no steps, since it has no data, hears it too.
  /// Without a budget it never is, as a warning says.
  [[nodiscard]] bool done() const override;
  /// Ends the run for all workers, without loss: done() becomes true here, and at each other worker
  /// as soon as word has come to it, after one exchange with a neighbour that knows. All then call
  /// finish() and agree. `reason` is for the log. In mode sync all workers must call it at the same
  /// step.
  void stop_all(std::string_view reason) override;
  /// Share of the budget used by all workers together, as estimated by gossip; 0 without a budget.
  [[nodiscard]] double progress() const override;
  /// Decayed mean of the loss over all workers, as this worker knows it; NaN where none is known.
  [[nodiscard]] double network_loss() const override;

  /// A number that all workers share by name, for decisions that all should take alike, such as a
  /// loss on validation data. Says this worker's latest `value`, unless it is none or not finite,
  /// and returns the mean over the workers of what each said last, as this worker knows it; NaN
  /// where none is known. Workers that have said nothing do not count. `name` is one of
  /// SessionOptions::means; throws ConfigError for another one.
  ///
  /// The mean travels with the exchange, without a collective: here a new value counts at once, as
  /// one worker's, and at the others after some boundaries, the fewer the better the topology is
  /// connected. When nobody has said a new one for so long, all read the same number; in mode sync
  /// on topology complete, after one boundary. What workers that died said last fades as others say
  /// new values, over some thousand steps (see Means). Checkpoints hold it all. After finish() it
  /// stays as it is. With SessionOptions::out the run's page shows it, a curve for each worker and
  /// one of the mean.
  double mean(std::string_view name, std::optional<double> value = {}) override;

  /// Optional, once, before the first exchange(): a hash of the content of this worker's first
  /// batch, not 0. Neighbours are told. Where a neighbour of a lower rank has the same, a warning
  /// says once that the two train on the same examples.
  void note_first_batch(std::uint64_t hash);

  // The grid changes while it runs. Each worker on it, neighbour or not, makes the same changes in
  // the same order, since turns, sweeps and the end of the run follow from the whole grid; it may
  // do so between any two of its steps. Throw ConfigError where the change cannot be (see
  // stencil::Grid) and in mode sync; OrderError after finish(). They return at once, but that the
  // grid's numbers take seconds where it has thousands of workers.
  /// Worker `rank` comes, as the neighbour of these; it copies the model of one of them. `listen`
  /// is its endpoint; "": where the options say that this rank listens. It begins its session on
  /// the changed grid.
  void add(int rank, const std::vector<int>& neighbours, const std::string& listen = {});
  /// Worker `rank` leaves, which may be this one. What is under way with its neighbours is
  /// completed, so the mean is kept; where it is not there any more, what was in flight is lost,
  /// and counted. A worker that has left goes on alone.
  void remove(int rank);

  /// Ends training: keeps averaging until neighbours agree, then freezes the model. Waits for
  /// others that are at work, and answers them; `settle_deadline` counts from when nobody is. A
  /// second call returns the same result.
  Agreement finish() override;

  /// Saves a checkpoint into `file` now; see SessionOptions::checkpoint for its content. Call it
  /// between two exchange(), never in the middle of a step. Copies the state and returns; another
  /// thread writes it, and the destructor waits for that. Logs a file that cannot be written.
  void save_checkpoint(const std::filesystem::path& file);
  /// Saves the model, all arrays of its adapter, as one safetensors file: the complete new file or
  /// none. Throws FileError.
  void save_model(const std::filesystem::path& file);

  /// The endpoint where neighbours can dial this worker. Any thread.
  [[nodiscard]] std::string endpoint() const;
  [[nodiscard]] Decisions* decisions() override { return this; }
  /// A recent picture of the exchange. Any thread; allocates.
  [[nodiscard]] SessionStatus status() const override;
  /// Seconds the training thread has spent in exchange() and needed().
  [[nodiscard]] double exchange_seconds() const;
  /// Steps so far, including those before a resumption.
  [[nodiscard]] std::uint64_t steps() const;
  /// The rank whose model this worker copied when it joined, if any.
  [[nodiscard]] std::optional<int> joined_from() const;
  [[nodiscard]] int rank() const;
  /// Workers on the grid.
  [[nodiscard]] int size() const;

 private:
  Session(ModelAdapter& adapter, SessionOptions options, const stencil::Grid* grid);
  class Impl;
  std::unique_ptr<Impl> impl_;
  std::unique_ptr<RunWriter> writer_;  ///< null without SessionOptions::out
  double written_seconds_ = 0;         ///< exchange_seconds() as of its last step
};

}  // namespace fast
