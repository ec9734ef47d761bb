#include "fast/session.h"

#include <xxhash.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "fast/boundary_wait.h"
#include "fast/cadence.h"
#include "fast/peers.h"
#include "fast/progress.h"
#include "fast/sharing.h"
#include "fast/sweep_watch.h"
#include "stencil/codec/codecs.h"
#include "stencil/core/mixing_weights.h"
#include "stencil/core/usual_sweeps.h"
#include "stencil/io/event_loop.h"
#include "stencil/runtime/made_parts.h"
#include "stencil/transport/factory.h"

namespace fast {
namespace {

using stencil::Duration;
using stencil::EventLoop;
using stencil::Pause;
using stencil::PumpStatus;
using stencil::seconds;
using stencil::Standing;
using stencil::TimePoint;
using stencil::WorkerState;

constexpr Duration kStatusEvery = std::chrono::milliseconds(50);
constexpr double kFlushSeconds = 2;
constexpr double kHeldSeconds = 1;
constexpr std::size_t kFrameSlack = 4096;
constexpr std::size_t kMostRunId = 256;

/// Equal for equal edges, wherever an edges file lies.
std::string identity(const stencil::Topology& topology) {
  if (!topology.spec().starts_with("edges:")) return topology.spec();
  const auto edges = topology.edges();
  return "edges:" + std::to_string(XXH64(edges.data(), edges.size() * sizeof edges[0], 0));
}

stencil::PumpOptions pump_options(const SessionOptions& options, const stencil::Layout& layout,
                                  std::uint64_t initial_hash) {
  stencil::PumpOptions pump;
  stencil::EngineConfig& engine = pump.engine;
  engine.rank = options.rank;
  engine.topology = stencil::Topology::parse(options.topology);
  if (options.rank < 0 || options.rank >= engine.topology.size()) {
    throw ConfigError("rank " + std::to_string(options.rank) + " is outside " + options.topology,
                      "use 0 to " + std::to_string(engine.topology.size() - 1));
  }
  if (options.run_id.empty() || options.run_id.size() > kMostRunId ||
      std::ranges::any_of(options.run_id, [](unsigned char c) { return c < 0x20 || c == 0x7f; })) {
    throw ConfigError("the run id is empty, longer than " + std::to_string(kMostRunId) +
                          " bytes or holds control characters",
                      "name the run in a few letters, the same at every worker");
  }
  engine.turns = stencil::Turns(engine.topology);
  engine.mode = stencil::Mode::parse(options.mode);
  engine.buckets = static_cast<std::uint32_t>(layout.bucket_count()) + 1;
  const double sweeps = options.sweeps.value_or(stencil::usual_sweeps(engine.topology));
  engine.sweeps_per_mille = static_cast<std::uint32_t>(sweeps * 1000 + 0.5);
  engine.window = static_cast<std::uint32_t>(options.window);
  engine.window_total = 4 * engine.window;
  engine.retained_total = 16 * engine.window;
  engine.suspect_after = seconds(options.suspect_after);
  engine.gone_after = seconds(options.gone_after);
  if (options.phase_lock > 0 && options.linger > 0) {
    engine.tell_every = stencil::PhaseLock::kShortestStep;
  }
  engine.heartbeat_every = std::min(engine.heartbeat_every, engine.suspect_after / 4);
  engine.init_from_neighbour = options.init_from_neighbour;
  engine.seed = options.seed;
  stencil::Hello& hello = engine.hello;
  hello.run_id = options.run_id;
  hello.topology = identity(engine.topology);
  hello.incarnation = static_cast<std::uint64_t>(
      std::chrono::system_clock::now().time_since_epoch() / std::chrono::microseconds(1));
  hello.layout_hash = layout.hash();
  hello.initial_hash = initial_hash;
  hello.mode = engine.mode.name();
  hello.codec = stencil::parse_codec(options.codec);
  pump.settle_threshold = stencil::settle_threshold(engine.topology, options.settle_target);
  return pump;
}

}  // namespace

class Session::Impl {
 public:
  Impl(ModelAdapter& adapter, SessionOptions options)
      : adapter_(adapter),
        options_(std::move(options)),
        values_(adapter.values()),
        layout_(adapter.parameters(), static_cast<std::size_t>(options_.bucket_kib) * 256),
        config_(pump_options(options_, layout_, XXH64(values_.data(), values_.size_bytes(), 0))),
        codecs_(config_.engine.hello.codec),
        self_weight_(
            stencil::MixingWeights(config_.engine.topology).weight(options_.rank, options_.rank)),
        progress_(config_.engine.topology.size(), options_.budget, options_.data_size),
        sharing_(shares(options_, config_.engine)),
        mixer_(layout_, values_, progress_.scalars(),
               make_segment(sharing_, layout_, config_.engine, options_.log), options_.mix_threads),
        peers_(options_.peers, options_.peers_file, options_.peer_template) {
    peers_.check();
    transport_ = stencil::make_transport(
        {.listen = options_.listen,
         .max_frame_bytes = layout_.bucket_floats() * sizeof(float) + kFrameSlack,
         .queue_frames = static_cast<std::size_t>(32 * options_.window),
         .inproc = options_.inproc});
    endpoint_ = transport_->endpoint();
    if (mixer_.segment().descriptor() >= 0) {
      meeting_ = make_meeting(layout_, config_.engine, mixer_.segment(), options_.log);
    }
    if (meeting_) config_.engine.hello.meeting = meeting_->token();
    pump_ = std::make_unique<stencil::Pump>(
        config_, mixer_, *transport_, [this](stencil::Rank rank) { return peers_.find(rank); },
        options_.log, EventLoop::now(), meeting_.get());
    status_ = pump_->status();
    for (const int descriptor : transport_->descriptors()) loop_.watch(descriptor);
    if (meeting_) loop_.watch(meeting_->descriptor());
    loop_.start([this](TimePoint now) { return turn(now); },
                [this](const std::string& what) { fail(what); });
    adapter_.listen([this](std::size_t first) { made_from(first); });
  }

  ~Impl() {
    adapter_.listen({});
    flush([](const PumpStatus& s) { return s.flushed; });
    leave_ = true;
    wake();
    flush([this](const PumpStatus&) { return left_.load(); });
    loop_.stop();
  }

  void join() {
    if (joined_) return;
    joined_ = true;
    const auto begun = [](const PumpStatus& s) { return s.joined || !s.refused.empty(); };
    bool ready = await(options_.start_deadline, begun);
    PumpStatus status = this->status();
    // Copying a large model over a thin link takes as long as it takes, while it goes on.
    for (std::uint64_t copied = 0; !ready && !stopped() && status.copied > copied;) {
      copied = status.copied;
      ready = await(options_.start_deadline, begun);
      status = this->status();
    }
    if (!status.joined && !status.refused.empty()) throw RefusedError(status.refused);
    if (status.joined_from != stencil::kNoRank) {
      options_.log(stencil::LogLevel::kInfo,
                   "took over the model of neighbour " + std::to_string(status.joined_from));
      fold_all();
      mixer_.fold_telemetry(progress_.scalars());
    }
    if (ready) return;
    std::string missing;
    for (const auto& neighbour : status.neighbours) {
      missing += (missing.empty() ? "" : ", ") + std::to_string(neighbour.rank);
    }
    const std::string patience = std::to_string(static_cast<int>(options_.start_deadline)) + " s";
    const std::string text =
        status.copied > 0 ? "the copy of a neighbour's model (" + missing + ") did not go on for " +
                                patience + "; check the link, or raise --start-deadline"
                          : "no neighbour (" + missing + ") was reached in " + patience +
                                "; start them, or check --peer and --listen";
    if (sync() && !stopped()) throw DeadlineError(text);
    if (!stopped()) {
      options_.log(stencil::LogLevel::kWarning, text + "; training alone until then");
    }
    stop_joining_ = true;
    wake();
    flush([](const PumpStatus& s) { return s.joined; });
  }

  /// In the middle of a step: see ModelAdapter::made_from().
  void made_from(std::size_t first) {
    if (!joined_ || failed_ || config_.engine.mode.kind != stencil::Mode::Kind::kAsync) return;
    const TimePoint begun = EventLoop::now();
    const auto made = made_.made_from(first);
    if (!made) return;
    values_ = adapter_.values();
    // What is not finite, or held, is found or done at the boundary.
    (void)mixer_.fold(values_, made->from, made->to);
    made_from_ = made->from;
    wake();
    exchange_time_ += EventLoop::now() - begun;
  }

  void exchange(const StepReport& report) {
    join();
    if (failed_) throw_failure();
    const TimePoint begun = EventLoop::now();
    values_ = adapter_.values();
    progress_.add(report.samples, report.loss);
    const bool finite = sync() ? exchange_in_lock_step() : exchange_edge_delta();
    exchange_time_ += EventLoop::now() - begun;
    if (!finite) {
      throw NonFiniteError("parameters became NaN or infinite at step " +
                           std::to_string(step_.load()) + "; lower the learning rate");
    }
  }

  bool finish() {
    if (!joined_) return false;
    if (sync()) {
      await(options_.wait_deadline, [](const PumpStatus& s) { return s.neighbours_completed; });
      wanted_ = WorkerState::kFrozen;
      wake();
      return true;
    }
    fold_all();  // buckets that were held at the last boundary still lack the last step
    wanted_ = WorkerState::kSettling;
    wake();
    const bool settled =
        await(options_.settle_deadline, [](const PumpStatus& s) { return s.may_freeze; });
    wanted_ = WorkerState::kFrozen;
    wake();
    flush([](const PumpStatus& s) { return s.state == WorkerState::kFrozen; });
    // What neighbours still owe on our own requests belongs to this model.
    flush([](const PumpStatus& s) { return s.flushed; });
    fold_all();
    return settled;
  }

  PumpStatus status() const {
    const std::lock_guard lock(mutex_);
    return status_;
  }

  const std::string& endpoint() const { return endpoint_; }
  double progress() const { return progress_.share(); }
  double network_loss() const { return progress_.loss(); }
  double exchange_seconds() const { return std::chrono::duration<double>(exchange_time_).count(); }
  std::uint64_t steps() const { return step_; }

 private:
  [[nodiscard]] bool sync() const { return config_.engine.mode.kind == stencil::Mode::Kind::kSync; }

  /// Training is over or not begun: waiting for a lock costs nobody anything. A neighbour on this
  /// host that was stopped while it held one is not waited for.
  void fold_all() {
    values_ = adapter_.values();
    const TimePoint until = EventLoop::now() + seconds(kHeldSeconds);
    stencil::FoldReport report = mixer_.fold(values_);
    while (report.deferred > 0 && EventLoop::now() < until) {
      std::this_thread::yield();
      report = mixer_.fold(values_);
    }
    if (!report.finite) throw NonFiniteError("parameters became NaN or infinite after training");
    if (report.deferred == 0) return;
    options_.log(stencil::LogLevel::kWarning,
                 std::to_string(report.deferred) +
                     " buckets are held by a neighbour that stands still; they lack what was "
                     "agreed on since the last step");
  }

  bool exchange_edge_delta() {
    const std::uint64_t next = step_ + 1;
    if (config_.engine.mode.kind == stencil::Mode::Kind::kBounded) {
      demand([this] { return "to come within " + config_.engine.mode.name() + " steps"; },
             [next](const PumpStatus& s) { return s.limit.step >= next; });
    }
    const stencil::FoldReport report = mixer_.fold(values_);
    mixer_.fold_telemetry(progress_.scalars());
    pause_ = wait_.begin(next);
    made_from_ = Standing::kNoBucket;
    step_ = next;
    wake();
    while (pause_ != Pause::kNone) {
      pause_ = wait_.wait();
      wake();
    }
    made_.boundary();
    if (!report.finite || !wait_.waited()) return report.finite;
    const bool finite = mixer_.fold(values_).finite;
    mixer_.fold_telemetry(progress_.scalars());
    return finite;
  }

  bool exchange_in_lock_step() {
    const std::uint64_t next = step_ + 1;
    const bool ready = demand([next] { return "to complete round " + std::to_string(next - 1); },
                              [next](const PumpStatus& s) {
                                return s.completed_round + 1 >= next && s.neighbours_completed;
                              });
    if (!ready) return true;  // stopped: neighbours may still pull the round before

    const stencil::FoldReport report =
        mixer_.publish(values_, progress_.scalars(), codecs_.values(), self_weight_);
    if (!report.finite) return false;
    round_ = next;
    wake();
    const bool complete = demand([next] { return "in round " + std::to_string(next); },
                                 [next](const PumpStatus& s) { return s.completed_round >= next; });
    if (!complete) return true;  // stopped: the model stays as its own step left it
    mixer_.collect(values_, progress_.scalars());
    step_ = next;
    return true;
  }

  /// Waits for a neighbour, or throws, naming those that keep us. False where the user wants to
  /// stop instead. `what` makes the text, which is needed at the deadline only.
  template <typename What, typename Condition>
  bool demand(What what, Condition condition) {
    if (await(options_.wait_deadline, condition)) return true;
    if (stopped()) return false;
    const PumpStatus status = this->status();
    std::string who;
    for (const auto& n : status.neighbours) {
      who += (who.empty() ? "" : ", ") + std::to_string(n.rank) + " (" +
             std::string(stencil::name(n.link)) + ", step " + std::to_string(n.step) + ")";
    }
    throw DeadlineError("waited " + std::to_string(static_cast<int>(options_.wait_deadline)) +
                        " s for a neighbour " + what() + ": " + who +
                        "; check those workers, or raise --wait-deadline, or use --mode async");
  }

  /// Waits until the background thread's status fulfils `condition`; false at the deadline or when
  /// the user wants to stop. Throws where the background thread has failed.
  template <typename Condition>
  bool await(double deadline, Condition condition) {
    const bool met = wait(deadline, condition, [this] { return stopped(); });
    if (failed_) throw_failure();
    return met;
  }

  /// The background thread's last word.
  void fail(const std::string& what) {
    options_.log(stencil::LogLevel::kError, "the background thread failed: " + what);
    const std::lock_guard lock(mutex_);
    failure_ = what;
    failed_ = true;
    changed_.notify_all();
  }

  [[noreturn]] void throw_failure() const {
    const std::lock_guard lock(mutex_);
    throw std::runtime_error("the background thread failed: " + failure_);
  }

  /// The short waits of an orderly end, which stopping does not cut off.
  template <typename Condition>
  void flush(Condition condition) {
    (void)wait(kFlushSeconds, condition, [] { return false; });
  }

  template <typename Condition, typename Stop>
  bool wait(double deadline, Condition condition, Stop stop) {
    const TimePoint until = EventLoop::now() + seconds(deadline);
    watched_ = true;
    wake();
    std::unique_lock lock(mutex_);
    bool met = false;
    while (!(met = condition(status_)) && failure_.empty() && !stop()) {
      const TimePoint now = EventLoop::now();
      if (now >= until) break;
      // `stop` may be set by a signal handler, which must not notify: look again by itself.
      changed_.wait_for(lock, std::min<Duration>(until - now, std::chrono::milliseconds(100)));
    }
    watched_ = false;
    return met;
  }

  void wake() { loop_.wake(); }

  [[nodiscard]] bool stopped() const { return options_.stop != nullptr && *options_.stop; }

  TimePoint turn(TimePoint now) {
    const bool leaving = leave_;
    // In this order: made_from_ is of a step after step_.
    Standing standing{.step = step_,
                      .pause = pause_,
                      .made_from = made_from_,
                      .round = round_,
                      .wanted = wanted_,
                      .stop_joining = stop_joining_,
                      .leave = leaving};
    const TimePoint next = pump_->turn(now, standing);
    if (leaving) left_ = true;
    if (options_.linger > 0) wait_.note(now, pump_->engine());
    const bool watched = watched_;
    if (shown_.due(now, watched)) {
      const PumpStatus& status = pump_->status();
      watch_sweeps(status, standing.step);
      const std::lock_guard lock(mutex_);
      status_ = status;
      if (watched) changed_.notify_all();
    }
    return std::min(next, shown_.next());
  }

  void watch_sweeps(const PumpStatus& status, std::uint64_t step) {
    const bool reached = std::ranges::any_of(status.neighbours, [](const auto& neighbour) {
      return neighbour.link == stencil::LinkState::kUp;
    });
    if (const auto rate = sweep_watch_.look(step, status.engine.sweeps, reached)) {
      options_.log(stencil::LogLevel::kWarning, sweep_watch_.advice(*rate));
    }
  }

  // Constant after construction.
  ModelAdapter& adapter_;
  SessionOptions options_;
  std::span<float> values_;  ///< training thread
  stencil::Layout layout_;
  stencil::PumpOptions config_;
  stencil::Codecs codecs_;
  double self_weight_;
  std::string endpoint_;

  // Training thread.
  Progress progress_;
  Duration exchange_time_{};
  bool joined_ = false;
  stencil::MadeParts made_{layout_};

  // Provides its own locking; see Mixer.
  bool sharing_;
  stencil::Mixer mixer_;

  // Background thread, once the loop has started.
  Peers peers_;
  std::unique_ptr<stencil::Transport> transport_;
  std::unique_ptr<stencil::UnixMeeting> meeting_;  ///< null: nothing is shared
  std::unique_ptr<stencil::Pump> pump_;
  Cadence shown_{kStatusEvery};  ///< of status_
  SweepWatch sweep_watch_{config_.engine};

  // From the training thread to the background thread.
  std::atomic<std::uint64_t> step_{0}, round_{0};
  std::atomic<WorkerState> wanted_{WorkerState::kTraining};
  std::atomic<Pause> pause_{Pause::kNone};
  std::atomic<std::uint32_t> made_from_{Standing::kNoBucket};
  std::atomic<bool> stop_joining_{false}, leave_{false}, left_{false}, watched_{false};
  std::atomic<bool> failed_{false};  ///< the other way: the background thread is no more

  // Guarded by mutex_.
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  PumpStatus status_;
  std::string failure_;
  BoundaryWait wait_{options_.phase_lock, options_.linger};

  EventLoop loop_;  ///< last: stops before anything it uses goes
};

Session::Session(ModelAdapter& adapter, SessionOptions options)
    : impl_(std::make_unique<Impl>(adapter, std::move(options))) {}
Session::~Session() = default;

void Session::join() {
  impl_->join();
}
void Session::exchange(const StepReport& report) {
  impl_->exchange(report);
}
double Session::progress() const {
  return impl_->progress();
}
double Session::network_loss() const {
  return impl_->network_loss();
}
bool Session::finish() {
  return impl_->finish();
}
std::string Session::endpoint() const {
  return impl_->endpoint();
}
PumpStatus Session::status() const {
  return impl_->status();
}
double Session::exchange_seconds() const {
  return impl_->exchange_seconds();
}
std::uint64_t Session::steps() const {
  return impl_->steps();
}
std::optional<int> Session::joined_from() const {
  const stencil::Rank rank = impl_->status().joined_from;
  return rank == stencil::kNoRank ? std::nullopt : std::optional<int>(rank);
}

}  // namespace fast
