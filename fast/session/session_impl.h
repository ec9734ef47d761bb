#pragma once

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fast/session/background.h"
#include "fast/session/loss_watch.h"
#include "fast/session/means.h"
#include "fast/session/memory_budget.h"
#include "fast/session/model_values.h"
#include "fast/session/patience.h"
#include "fast/session/patient_fold.h"
#include "fast/session/pause_wait.h"
#include "fast/session/progress.h"
#include "fast/session/resuming.h"
#include "fast/session/session.h"
#include "fast/session/settle_figure.h"
#include "fast/session/wait_texts.h"
#include "stencil/core/grid.h"
#include "stencil/io/event_loop.h"
#include "stencil/runtime/carried.h"
#include "stencil/runtime/step_boundary.h"
#include "stencil/threads/thread_check.h"

namespace fast {

/// The training thread's half of a session; Background is the other. How it begins is in
/// session_start.cc, its steps in session_step.cc, changes of its grid in session_grid.cc, its end
/// in session_end.cc.
class Session::Impl {
  using Duration = stencil::Duration;
  using EventLoop = stencil::EventLoop;
  using PumpStatus = stencil::PumpStatus;
  using TimePoint = stencil::TimePoint;

 public:
  /// `grid`: that of `options.topology`, where it has changed; or null.
  Impl(ModelAdapter& adapter, SessionOptions options, const stencil::Grid* grid);
  ~Impl() {
    adapter_.on_ready({});
    adapter_.on_changing({});
    adapter_.on_needed({});
  }

  void join();
  void exchange(const StepReport& report);
  void needed(std::size_t first, std::size_t count);
  void changing() { boundary_.take_back(); }
  void note_first_batch(std::uint64_t hash);
  void save(const std::filesystem::path& file);
  void save_model(const std::filesystem::path& file);
  Agreement finish();
  void add(int rank, const std::vector<int>& neighbours, const std::string& listen);
  void remove(int rank);

  /// Where a function of the training thread begins; hold the result until its end. Throws
  /// InvariantError where another thread is in one, in builds that check threads.
  [[nodiscard]] stencil::OneAtATime::Inside enter(const char* what) { return {training_, what}; }

  [[nodiscard]] SessionStatus status() const;
  /// The process of the background thread.
  [[nodiscard]] pid_t process() const { return process_; }

  [[nodiscard]] const Background& background() const { return background_; }
  [[nodiscard]] const Progress& progress() const { return progress_; }
  [[nodiscard]] bool done();
  /// Of the way to the aim. An earlier life that was over had come to it, whatever the scalars of
  /// its checkpoint say: each worker knows the mean a little less or more exactly.
  [[nodiscard]] double fraction() const;
  void stop_all(std::string_view reason);
  double mean(std::string_view name, std::optional<double> value);
  [[nodiscard]] double exchange_seconds() const;
  [[nodiscard]] std::uint64_t steps() const { return record_.steps + boundary_.standing().step; }
  [[nodiscard]] const SessionOptions& options() const { return options_; }
  [[nodiscard]] int size() const { return grid_.size(); }

 private:
  /// An earlier life has finished, in agreement, and this one has made no step.
  [[nodiscard]] bool over() const { return record_.agreed && !joined_; }
  [[nodiscard]] bool aims() const { return options_.budget > 0 || options_.epochs > 0; }
  [[nodiscard]] bool saves() const {
    return !options_.checkpoint.empty() && options_.checkpoint_every > 0;
  }

  Agreement agree();
  /// Leaves for a while. The checkpoint holds what was in flight, too.
  Agreement pause();
  /// The model changes no more, and what neighbours still owe is in it.
  void freeze();
  Agreement agree_in_lock_step(bool changed);

  /// Averages until all agree, and those that are away have come back or were waited for.
  bool settle();
  void note_loss(double loss);
  /// Shows them to status().
  void show_means();

  /// Once: this worker's last changes of the model that all agree on. Returns whether any were
  /// made.
  bool end_training();

  /// `listen`: of who comes.
  template <typename Make>
  void change_grid(Make make, std::map<int, std::string> listen);

  /// The record of a checkpoint, whose model the adapter then holds, or of the model as it was
  /// given.
  SessionRecord first_record();
  /// Makes the changes of the grid that a checkpoint holds and the given one has not. Throws
  /// FileError where the two are not of one grid.
  void follow_saved(const std::vector<stencil::Grid::Change>& saved);
  /// What newcomers take over. Adds it to the hash of a new run's start.
  stencil::Carried carry();

  /// Waits until the worker may begin, or begin anew with the model of a neighbour that is far
  /// ahead. Returns true where it adopted such a model; the step in progress, which was of another
  /// model, is then dropped.
  bool await_model();
  /// Waits for `begun` until the start deadline, where there is one. Returns false at the deadline
  /// or when the user wants to stop.
  bool await_start(const Background::Condition& begun);

  /// What came while this worker waited to begin belongs to its initial model: its first gradient
  /// is taken there, and no momentum follows that move.
  void begin_first_step();

  [[nodiscard]] const stencil::Mode& mode() const { return config_.engine.mode; }
  [[nodiscard]] bool pauses() const { return background_.pausing() && !sync(); }
  [[nodiscard]] bool sync() const { return mode().kind == stencil::Mode::Kind::kSync; }

  /// Passes this thread's state to the background thread.
  void publish() { background_.publish(boundary_.standing()); }

  void want(WorkerState state);

  /// No neighbour was reached: the worker trains alone until one is. In lock step this is an error,
  /// and where one called itself a neighbour whose options or weights differ. It may have been no
  /// neighbour at all, so this is an error only now.
  void begin_alone(const PumpStatus& status);

  /// In the middle of a step: see ModelAdapter::ready_from().
  void ready_from(std::size_t first);
  void fold_all() { fold_patiently(mixer_, values_, options_.log); }

  /// Takes the step that is complete in `x` through its boundary. Returns false where a parameter
  /// is not finite.
  bool pass_boundary(std::span<float> x);
  /// Waits until the present phase of the boundary is over. Returns false where the user wants to
  /// stop: the model then stays as its own step left it.
  bool await_phase();
  /// The scalars are those of others, too, as far as `phase`, which is over, has brought them.
  void note_scalars(stencil::StepBoundary::Phase phase, std::uint64_t told);

  /// Waits for others with patience, and tells the user whom it waits for. `what` makes the text or
  /// is it.
  template <typename What>
  bool await_others(double deadline, What what, const Background::Condition& condition) {
    const double busy = std::max(options_.exchange.busy_deadline, options_.exchange.wait_at_end);
    return background_.await(Patience(deadline, busy, EventLoop::now()), condition,
                             [&](const PumpStatus& status) {
                               options_.log(LogLevel::kInfo, waits_for(status, text_of(what)));
                             });
  }
  static std::string text_of(const char* text) { return text; }
  template <typename What>
  static std::string text_of(const What& what) {
    return what();
  }

  /// Waits for neighbours, or throws DeadlineError naming those awaited. Returns false where the
  /// user wants to stop. `what` makes the text, which is needed only at the deadline.
  template <typename What>
  bool await_neighbours(What what, const Background::Condition& condition) {
    if (await_others(options_.exchange.wait_deadline, what, condition)) return true;
    if (background_.stopped()) return false;
    throw DeadlineError(overdue(background_.status(), options_, what()));
  }

  // Constant after construction.
  const pid_t process_ = getpid();
  ModelAdapter& adapter_;
  SessionOptions options_;
  ModelValues values_;  ///< training thread
  stencil::Layout layout_;
  stencil::Grid grid_;    ///< training thread
  Resuming resuming_;     ///< training thread
  SessionRecord record_;  ///< as this life began
  stencil::Carried carried_;
  const MemoryBudget memory_;
  Means means_;  ///< training thread, but for its names
  std::vector<std::atomic<double>> shown_means_ =
      std::vector<std::atomic<double>>(means_.count());  ///< by number; not finite: not known
  Progress progress_;                                    ///< likewise
  std::atomic<double> mean_data_size_{static_cast<double>(options_.data_size)};
  stencil::PumpOptions config_;

  // Training thread.
  stencil::OneAtATime training_;
  Duration exchange_time_{};
  std::optional<Agreement> agreement_;  ///< once finished
  bool joined_ = false;
  TimePoint joined_at_{};
  std::uint64_t telemetry_seen_ = 0;  ///< Mixer::telemetry_exchanges() as of the last boundary
  bool training_ended_ = false;
  bool done_ = false;        ///< and stays so, however exactly the rest is known later
  bool endless_ = false;     ///< it was said that done() never comes
  bool loss_grown_ = false;  ///< that was said once

  // Each provides its own locking.
  std::atomic<std::uint64_t> non_finite_losses_{0};
  LossWatch losses_;
  stencil::Mixer mixer_;
  stencil::StepBoundary boundary_;  ///< training thread, but for its pauses
  PauseWait pause_;
  Background background_;  ///< its thread stops before what it uses is destroyed
  SettleFigure settle_figure_{options_.exchange.settle_target, [this](double threshold) {
                                background_.set_settle_threshold(threshold);
                              }};
};

}  // namespace fast
