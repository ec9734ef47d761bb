#include "fast/session/session.h"

#include <unistd.h>
#include <xxhash.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <optional>
#include <utility>

#include "fast/session/background.h"
#include "fast/session/boundary_wait.h"
#include "fast/session/loss_watch.h"
#include "fast/session/model_values.h"
#include "fast/session/patient_fold.h"
#include "fast/session/progress.h"
#include "fast/session/pump_options.h"
#include "fast/session/resuming.h"
#include "fast/session/run_writer.h"
#include "fast/session/sharing.h"
#include "fast/session/status_of.h"
#include "fast/session/terms.h"
#include "fast/session/wait_texts.h"
#include "stencil/core/topology.h"
#include "stencil/io/event_loop.h"
#include "stencil/mix/codecs/kinds.h"
#include "stencil/runtime/step_boundary.h"

namespace fast {
namespace {

using stencil::Duration;
using stencil::EventLoop;
using stencil::Pause;
using stencil::PumpStatus;
using stencil::Standing;
using stencil::TimePoint;

/// Throws where options are out of range, before anything uses them.
SessionOptions validated(SessionOptions options) {
  options.validate();
  return options;
}

}  // namespace

/// The training thread's half of a session; Background is the other.
class Session::Impl {
 public:
  Impl(ModelAdapter& adapter, SessionOptions options)
      : adapter_(adapter),
        options_(validated(std::move(options))),
        values_(adapter),
        layout_(adapter.parameters(),
                static_cast<std::size_t>(options_.exchange.bucket_kib) * 1024 / sizeof(float)),
        topology_(stencil::Topology::parse(options_.topology)),
        resuming_(options_, make_terms(options_, topology_, layout_)),
        record_(first_record()),
        progress_(topology_.size(), Aim{options_.budget, options_.epochs}, options_.data_size,
                  record_.scalars),
        config_(make_pump_options(options_, topology_, layout_, record_.initial_hash,
                                  progress_.steps(), record_.resumed)),
        pulled_(stencil::make_codec(stencil::pulled_as(config_.engine.hello.codec))),
        self_weight_(config_.engine.self_weight()),
        mixer_(layout_, values_.get(), progress_.scalars(),
               make_segment(shares(options_.exchange, config_.engine), layout_, config_.engine,
                            options_.log),
               options_.exchange.mix_threads),
        steps_(mixer_),
        boundary_(options_.exchange.phase_lock, options_.exchange.linger),
        background_(options_, config_, layout_, mixer_, boundary_) {
    mixer_.follow(adapter_.followers());
    adapter_.on_ready([this](std::size_t first) { ready_from(first); });
  }

  ~Impl() { adapter_.on_ready({}); }

  void join() {
    if (agreement_) {
      throw OrderError("the session is finished: its model is fixed",
                       "exchange before finish(), or open another session");
    }
    if (joined_) return;
    (void)await_model();
    joined_ = true;
  }

  void exchange(const StepReport& report) {
    join();
    background_.rethrow_failure();
    const TimePoint begun = EventLoop::now();
    const std::span<float> x = values_.pull();
    if (!sync() && background_.adopts(adopted_) && await_model()) return;
    progress_.add(report.samples, report.loss);
    note_loss(report.loss);
    const bool finite = sync() ? exchange_in_lock_step(x) : exchange_edge_delta(x);
    values_.push();
    mean_data_size_ = progress_.data_size();
    exchange_time_ += EventLoop::now() - begun;
    if (!finite) {
      throw NonFiniteError("parameters became NaN or infinite at step " + std::to_string(steps()) +
                           "; lower the learning rate");
    }
    if (resuming_.due(begun)) save(options_.checkpoint);
  }

  void save(const std::filesystem::path& file) {
    const TimePoint begun = EventLoop::now();
    SessionRecord record = record_;
    record.steps = steps();
    record.scalars.assign(progress_.scalars().begin(), progress_.scalars().end());
    resuming_.save(file, adapter_, record);
    exchange_time_ += EventLoop::now() - begun;
  }

  Agreement finish() {
    if (agreement_) return *agreement_;
    agreement_ = agree();
    if (const std::string text = losses_.grown(); !text.empty()) {
      options_.log(LogLevel::kWarning, text);
    }
    for (Resumable* const part : adapter_.parts()) part->finished();
    return *agreement_;
  }

  [[nodiscard]] SessionStatus status() const {
    SessionStatus out = status_of(background_.status(), EventLoop::now());
    out.mean_data_size = mean_data_size_;
    out.counters["non_finite_losses"] = non_finite_losses_;
    out.not_learnt = losses_.grown();
    out.likeness = boundary_.likeness();
    return out;
  }
  /// The process of the background thread.
  [[nodiscard]] pid_t process() const { return process_; }

  [[nodiscard]] const Background& background() const { return background_; }
  [[nodiscard]] const Progress& progress() const { return progress_; }
  [[nodiscard]] double exchange_seconds() const {
    return std::chrono::duration<double>(exchange_time_).count();
  }
  [[nodiscard]] std::uint64_t steps() const { return record_.steps + steps_.standing().step; }
  [[nodiscard]] const SessionOptions& options() const { return options_; }
  [[nodiscard]] int size() const { return topology_.size(); }

 private:
  Agreement agree() {
    if (!joined_) return Agreement::kAlone;
    if (!sync() && background_.adopts(adopted_)) (void)await_model();
    if (!options_.checkpoint.empty() && options_.checkpoint_every > 0) save(options_.checkpoint);
    if (sync()) {
      const bool completed =
          background_.await(options_.exchange.wait_deadline,
                            [](const PumpStatus& s) { return s.neighbours_completed; });
      want(WorkerState::kFrozen);
      return completed ? Agreement::kAgreed : Agreement::kDeadline;
    }
    fold_all();  // buckets that were held at the last boundary still lack the last step
    want(WorkerState::kSettling);
    const bool settled = background_.await(options_.exchange.settle_deadline,
                                           [](const PumpStatus& s) { return s.may_freeze; });
    want(WorkerState::kFrozen);
    background_.flush([](const PumpStatus& s) { return s.state == WorkerState::kFrozen; });
    // Replies that neighbours still owe to our own requests belong to this model.
    background_.flush([](const PumpStatus& s) { return s.flushed; });
    fold_all();
    if (!settled) return Agreement::kDeadline;
    return size() == 1 || background_.status().agreed ? Agreement::kAgreed : Agreement::kAlone;
  }

  void note_loss(double loss) {
    if (!std::isfinite(loss)) ++non_finite_losses_;
    losses_.add(loss);
    if (loss_grown_) return;
    const std::string text = losses_.grown();
    loss_grown_ = !text.empty();
    if (loss_grown_) options_.log(LogLevel::kWarning, text);
  }

  /// The record of a checkpoint, whose model the adapter then holds, or of the model as it was
  /// given.
  SessionRecord first_record() {
    if (auto record = resuming_.load(adapter_)) {
      (void)values_.pull();
      return *std::move(record);
    }
    const std::span<const float> values = values_.get();
    return {.initial_hash = XXH64(values.data(), values.size_bytes(), 0)};
  }

  /// Waits until the worker may begin, or begin anew with the model of a neighbour that is far
  /// ahead. Returns true where it adopted such a model; the step in progress, which was of another
  /// model, is then dropped.
  bool await_model() {
    const double patience = options_.exchange.start_deadline;
    const bool first = !joined_;
    const auto begun = [first](const PumpStatus& s) {
      return s.joined || (first && !s.refused.empty());
    };
    bool ready = background_.await(patience, begun);
    PumpStatus status = background_.status();
    // Copying a large model over a thin link may take long; wait as long as it progresses.
    for (std::uint64_t copied = 0; !ready && !background_.stopped() && status.copied > copied;) {
      copied = status.copied;
      ready = background_.await(patience, begun);
      status = background_.status();
    }
    if (first && !status.joined && !status.refused.empty()) throw RefusedError(status.refused);
    if (!ready) begin_alone(status);
    if (status.adopted == adopted_) {
      if (first && !sync()) begin_first_step();
      return false;
    }
    adopted_ = status.adopted;
    record_.initial_hash = status.initial.hash;
    options_.log(LogLevel::kInfo, taken_over(status));
    adapter_.followers().clear();  // this move is no part of any step
    (void)steps_.take_over(values_.pull(), progress_.scalars());
    values_.push();
    fold_all();
    for (Resumable* const part : adapter_.parts()) part->model_replaced();
    publish();
    return true;
  }

  /// What came while this worker waited to begin belongs to its initial model: its first gradient
  /// is taken there, and no momentum follows that move.
  void begin_first_step() {
    (void)steps_.begin(values_.pull(), progress_.scalars());
    values_.push();
  }

  [[nodiscard]] const stencil::Mode& mode() const { return config_.engine.mode; }
  [[nodiscard]] bool sync() const { return mode().kind == stencil::Mode::Kind::kSync; }

  /// Passes this thread's state to the background thread.
  void publish() { background_.publish(steps_.standing()); }

  void want(WorkerState state) {
    steps_.standing().wanted = state;
    publish();
  }

  /// No neighbour was reached: the worker trains alone until one is. In lock step this is an error,
  /// and where one called itself a neighbour whose options or weights differ. It may have been no
  /// neighbour at all, so this is an error only now.
  void begin_alone(const PumpStatus& status) {
    if (!joined_ && !background_.stopped() && !status.turned_away.empty()) {
      throw RefusedError("no neighbour was reached, and " + status.turned_away);
    }
    const std::string text = not_reached(status, options_);
    if (sync() && !background_.stopped()) throw DeadlineError(text);
    if (!background_.stopped()) {
      options_.log(LogLevel::kWarning, text + "; begins all the same");
    }
    steps_.standing().stop_joining = true;
    publish();
    background_.flush([](const PumpStatus& s) { return s.joined; });
    steps_.standing().stop_joining = false;
    publish();
  }

  /// In the middle of a step: see ModelAdapter::ready_from().
  void ready_from(std::size_t first) {
    if (!joined_ || agreement_ || background_.failed() || !options_.exchange.overlap ||
        mode().kind != stencil::Mode::Kind::kAsync || background_.adopts(adopted_)) {
      return;
    }
    const TimePoint begun = EventLoop::now();
    if (const auto part = steps_.would_be_made(first); part.size > 0) {
      if (steps_.made_from(values_.pull(part.begin, part.size), first)) publish();
    }
    exchange_time_ += EventLoop::now() - begun;
  }

  void fold_all() { fold_patiently(mixer_, values_, options_.log); }

  bool exchange_edge_delta(std::span<float> x) {
    const std::uint64_t next = steps_.next();
    if (mode().kind == stencil::Mode::Kind::kBounded) {
      await_neighbours([this] { return "to come within " + mode().name() + " steps"; },
                       [next](const PumpStatus& s) { return s.limit.step >= next; });
    }
    adapter_.followers().likeness = boundary_.likeness();
    const bool finite = steps_.end_step(x, progress_.scalars());
    Pause pause = boundary_.begin(next);
    steps_.pause(pause);
    publish();
    while (pause != Pause::kNone) {
      pause = boundary_.wait();
      steps_.pause(pause);
      publish();
    }
    return steps_.resume(x, progress_.scalars()) && finite;
  }

  bool exchange_in_lock_step(std::span<float> x) {
    const std::uint64_t next = steps_.next();
    const bool ready =
        await_neighbours([next] { return "to complete round " + std::to_string(next - 1); },
                         [next](const PumpStatus& s) {
                           return s.completed_round + 1 >= next && s.neighbours_completed;
                         });
    if (!ready) return true;  // the user stops: neighbours may still pull the round before

    const stencil::FoldReport report =
        mixer_.publish(x, progress_.scalars(), *pulled_, self_weight_);
    if (!report.finite) return false;
    steps_.standing().round = next;
    publish();
    const bool complete =
        await_neighbours([next] { return "in round " + std::to_string(next); },
                         [next](const PumpStatus& s) { return s.completed_round >= next; });
    if (!complete) return true;  // the user stops: the model stays as its own step left it
    mixer_.collect(x, progress_.scalars());
    steps_.standing().step = next;
    publish();
    return true;
  }

  /// Waits for neighbours, or throws DeadlineError naming those awaited. Returns false where the
  /// user wants to stop. `what` makes the text, which is needed only at the deadline.
  template <typename What>
  bool await_neighbours(What what, const Background::Condition& condition) {
    if (background_.await(options_.exchange.wait_deadline, condition)) return true;
    if (background_.stopped()) return false;
    throw DeadlineError(overdue(background_.status(), options_, what()));
  }

  // Constant after construction.
  const pid_t process_ = getpid();
  ModelAdapter& adapter_;
  SessionOptions options_;
  ModelValues values_;  ///< training thread
  stencil::Layout layout_;
  stencil::Topology topology_;
  Resuming resuming_;     ///< training thread
  SessionRecord record_;  ///< as this life began
  Progress progress_;     ///< training thread
  std::atomic<double> mean_data_size_{static_cast<double>(options_.data_size)};
  stencil::PumpOptions config_;
  std::unique_ptr<const stencil::Codec> pulled_;  ///< how whole models travel in lock step
  double self_weight_;

  // Training thread.
  Duration exchange_time_{};
  std::optional<Agreement> agreement_;  ///< once finished
  bool joined_ = false;
  bool loss_grown_ = false;    ///< that was said once
  std::uint64_t adopted_ = 0;  ///< models of neighbours that were adopted

  // Each provides its own locking.
  std::atomic<std::uint64_t> non_finite_losses_{0};
  LossWatch losses_;
  stencil::Mixer mixer_;
  stencil::StepBoundary steps_;  ///< training thread
  mutable BoundaryWait boundary_;
  Background background_;  ///< last: its thread stops before what it uses is destroyed
};

Session::Session(ModelAdapter& adapter, SessionOptions options)
    : impl_(std::make_unique<Impl>(adapter, std::move(options))) {
  if (impl_->options().out.empty()) return;
  writer_ = std::make_unique<RunWriter>(impl_->options(), adapter, impl_->steps());
}
/// A forked child has no background thread and must not speak for its parent. The thread's work may
/// be half done at the fork, so the child touches none of it. The descriptors close when the child
/// ends or becomes another program.
Session::~Session() {
  if (impl_->process() != getpid()) {
    (void)writer_.release();
    (void)impl_.release();
  } else if (writer_) {
    writer_->close(*this);
  }
}

void Session::join() {
  impl_->join();
  if (writer_) writer_->begin(*this);
}
void Session::exchange(const StepReport& report) {
  if (!writer_) return impl_->exchange(report);
  join();
  const double before = exchange_seconds();
  impl_->exchange(report);
  writer_->add(report, exchange_seconds() - before, *this);
}
double Session::progress() const {
  return impl_->progress().share();
}
double Session::network_loss() const {
  return impl_->progress().loss();
}
Agreement Session::finish() {
  if (writer_) writer_->end_training(*this);
  const Agreement agreement = impl_->finish();
  if (writer_) writer_->finish(agreement, *this);
  return agreement;
}
void Session::save(const std::filesystem::path& file) {
  impl_->save(file);
}
std::string Session::endpoint() const {
  return impl_->background().endpoint();
}
SessionStatus Session::status() const {
  return impl_->status();
}
double Session::exchange_seconds() const {
  return impl_->exchange_seconds();
}
std::uint64_t Session::steps() const {
  return impl_->steps();
}
std::optional<int> Session::joined_from() const {
  return status().joined_from;
}
int Session::rank() const {
  return impl_->options().rank;
}
int Session::size() const {
  return impl_->size();
}

}  // namespace fast
