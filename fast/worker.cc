#include "fast/worker.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "fast/data/loader.h"
#include "fast/data/partition.h"
#include "fast/evaluation.h"
#include "fast/log.h"
#include "fast/report/metrics.h"
#include "fast/report/run_folder.h"
#include "fast/report/safetensors.h"
#include "fast/schedule.h"
#include "fast/session.h"
#include "stencil/core/random.h"

namespace fast {
namespace {

using Clock = std::chrono::steady_clock;
using stencil::LogLevel;

/// For statistics of a model that was stopped.
constexpr int kHastyBatches = 2;

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string_view name(stencil::WorkerState state) {
  switch (state) {
    case stencil::WorkerState::kJoining:
      return "joining";
    case stencil::WorkerState::kTraining:
      return "training";
    case stencil::WorkerState::kSettling:
      return "settling";
    case stencil::WorkerState::kSettled:
      return "settled";
    case stencil::WorkerState::kFrozen:
      return "frozen";
  }
  return "?";
}

SessionOptions session_options(const WorkerConfig& c, std::uint64_t budget, std::size_t shard,
                               const std::atomic<bool>& stop, stencil::LogSink log) {
  SessionOptions o;
  o.topology = c.topology;
  o.rank = c.rank;
  o.run_id = c.run_id;
  o.listen = c.listen;
  o.peers = c.peers;
  o.peers_file = c.peers_file;
  o.peer_template = c.peer_template;
  o.mode = c.mode;
  o.codec = c.codec;
  o.transport = c.transport;
  o.sweeps = c.sweeps;
  o.linger = c.linger;
  o.phase_lock = c.phase_lock;
  o.mix_threads = c.mix_threads;
  o.bucket_kib = c.bucket_kib;
  o.window = c.window;
  o.budget = budget;
  o.data_size = shard;
  o.seed = c.seed;
  o.init_from_neighbour = c.init_from_neighbour;
  o.suspect_after = c.suspect_after;
  o.gone_after = c.gone_after;
  o.start_deadline = c.start_deadline;
  o.wait_deadline = c.wait_deadline;
  o.settle_target = c.settle_target;
  o.settle_deadline = c.settle_deadline;
  o.stop = &stop;
  o.log = std::move(log);
  return o;
}

std::map<std::string, std::uint64_t> counters(const stencil::PumpStatus& s) {
  return {{"sweeps", s.engine.sweeps},
          {"offers", s.engine.offers},
          {"answers", s.engine.answers},
          {"merges", s.engine.merges},
          {"declined", s.engine.declined},
          {"withdrawn", s.engine.withdrawn},
          {"lost_in_flight", s.engine.lost_in_flight},
          {"resynchronised", s.engine.resynchronised},
          {"stale_frames", s.engine.stale_frames},
          {"duplicates", s.engine.duplicates},
          {"gaps", s.engine.gaps},
          {"refusals", s.engine.refusals},
          {"violations", s.engine.violations},
          {"suspected", s.engine.suspected},
          {"gone", s.engine.gone},
          {"returned", s.engine.returned},
          {"malformed", s.pump.malformed},
          {"checksum", s.pump.checksum},
          {"payload_size", s.pump.payload_size},
          {"non_finite", s.pump.non_finite},
          {"own_non_finite", s.pump.own_non_finite},
          {"unknown_senders", s.pump.unknown_senders},
          {"frames_dropped", s.pump.frames_dropped},
          {"resent", s.pump.resent},
          {"shares", s.engine.shares},
          {"shares_declined", s.engine.shares_declined},
          {"held", s.engine.held},
          {"skipped", s.engine.skipped},
          {"put_off", s.pump.put_off},
          {"inherited_locks", s.pump.inherited_locks},
          {"bytes_shared", s.pump.bytes_shared},
          {"frames_sent", s.transport.frames_sent},
          {"frames_received", s.transport.frames_received},
          {"bytes_sent", s.transport.bytes_sent},
          {"bytes_received", s.transport.bytes_received},
          {"strangers", s.transport.strangers},
          {"discarded", s.transport.discarded}};
}

/// Keeps what is said before the log file exists: nothing is written until all that can fail at
/// set-up has not failed. Any thread.
class EarlyLog {
 public:
  void operator()(LogLevel level, std::string_view text) {
    const std::lock_guard lock(mutex_);
    if (target_) {
      target_(level, text);
    } else if (kept_.size() < kMost) {
      kept_.emplace_back(level, text);
    }
  }
  void open(stencil::LogSink target) {
    const std::lock_guard lock(mutex_);
    target_ = std::move(target);
    for (const auto& [level, text] : kept_) target_(level, text);
    kept_.clear();
  }

 private:
  static constexpr std::size_t kMost = 100;
  std::mutex mutex_;
  stencil::LogSink target_;
  std::vector<std::pair<LogLevel, std::string>> kept_;
};

/// One run of one worker: what Worker::run() keeps between its stages.
class Run {
 public:
  Run(const WorkerConfig& config, const Dataset& data, Learner& learner, const MakeExchange& make,
      const std::atomic<bool>& stop)
      : config_(config),
        data_(data),
        learner_(learner),
        stop_(stop),
        folder_(config.out),
        workers_(stencil::Topology::parse(config.topology).size()),
        budget_(static_cast<std::uint64_t>(
            std::llround(config.epochs * static_cast<double>(network_examples())))),
        shard_(partition(data.train.labels, config.partition, workers_, config.rank, config.seed)),
        lock_steps_(lock_step_count()),
        schedule_(Schedule::parse(config.schedule, config.optimizer.learning_rate, config.warmup)),
        random_(stencil::Random::derive(config.seed, 0x6a697474ULL + config.rank)),
        loader_(data, shard_, static_cast<std::size_t>(config.batch),
                stencil::Random::derive(config.seed, 0x6c6f6164ULL + config.rank)),
        exchange_(make(
            learner.adapter(),
            session_options(config, budget_, shard_.size(), stop,
                            [this](LogLevel level, std::string_view text) { log_(level, text); }))),
        metrics_(open_folder()) {
    write_atomically(folder_.endpoint(config.rank), exchange_->endpoint() + "\n");
    write_start();
  }

  WorkerOutcome execute() {
    WorkerOutcome outcome;
    try {
      outcome = train();
    } catch (const NonFiniteError& error) {
      outcome = {ExitCode::kNonFinite, error.what()};
    } catch (const RefusedError& error) {
      outcome = {ExitCode::kRefused, error.what()};
      salvage();
    } catch (const DeadlineError& error) {
      outcome = {ExitCode::kDeadline, error.what()};
      salvage();
    } catch (const AdapterError& error) {
      outcome = {ExitCode::kModel, error.what()};
    } catch (const FileError& error) {
      outcome = {ExitCode::kFile, error.what()};
    } catch (const std::exception& error) {
      outcome = {ExitCode::kFailure, error.what()};
      salvage();
    }
    log_(outcome.code == ExitCode::kOk ? LogLevel::kInfo : LogLevel::kError,
         outcome.text.empty() ? "done" : outcome.text);
    const stencil::PumpStatus status = exchange_->status();
    exchange_.reset();  // says good-bye, and may take a moment
    metrics_.end({.time = since(started_),
                  .exit_code = static_cast<int>(outcome.code),
                  .text = outcome.text,
                  .counters = counters(status)});
    return outcome;
  }

 private:
  /// Where each device holds its own data, the network's examples are not known here; they are
  /// taken to be as many at each worker as here.
  [[nodiscard]] std::size_t network_examples() const {
    return data_.train.size() * (config_.partition == "own" ? workers_ : 1);
  }

  std::filesystem::path open_folder() {
    make_writable_folder(folder_.worker(config_.rank));
    log_.open(make_log(folder_.log(config_.rank), config_.log_level, config_.quiet, config_.rank));
    return folder_.metrics(config_.rank);
  }

  void write_start() {
    metrics_.start({.rank = config_.rank,
                    .workers = workers_,
                    .topology = config_.topology,
                    .mode = config_.mode,
                    .model = config_.model,
                    .data = config_.data,
                    .run_id = config_.run_id,
                    .version = FAST_VERSION,
                    .unix_time = std::chrono::duration<double>(
                                     std::chrono::system_clock::now().time_since_epoch())
                                     .count(),
                    .epochs = config_.epochs,
                    .budget = budget_});
  }

  WorkerOutcome train() {
    exchange_->join();
    if (const stencil::Rank from = exchange_->status().joined_from; from != stencil::kNoRank) {
      metrics_.event(since(started_), "joined",
                     "took over the model of worker " + std::to_string(from));
    }
    training_began_ = last_report_ = Clock::now();
    report_progress();
    while (!stop_ && (lock_steps_ > 0 ? steps_ < lock_steps_ : exchange_->progress() < 1)) {
      if (const auto failure = step()) return *failure;
      if (since(last_report_) >= config_.report_every) report_progress();
    }
    training_seconds_ = since(training_began_);
    report_progress();
    if (mixes_statistics() && (lock_steps_ == 0 || stop_)) estimate_shared_statistics();
    if (stop_) {
      (void)exchange_->finish();
      save();
      return {ExitCode::kInterrupted, "stopped early on request; the model so far is saved"};
    }
    if (!exchange_->finish()) {
      log_(LogLevel::kWarning,
           "neighbours did not agree to " + std::to_string(config_.settle_target) + " within " +
               std::to_string(config_.settle_deadline) + " s; going on with what there is");
    }
    report_progress();
    metrics_.event(since(started_), "evaluating", "training is over; evaluating");
    if (!mixes_statistics()) {
      estimate_statistics(learner_, data_, shard_, kStatisticsBatches, config_.seed);
    }
    result_ = test(learner_, data_);
    save();
    report_progress();
    return {};
  }

  /// In lock-step all make equally many steps, which the configuration alone tells.
  [[nodiscard]] std::uint64_t lock_step_count() const {
    if (config_.mode != "sync") return 0;
    const std::uint64_t per_round = static_cast<std::uint64_t>(workers_) * config_.batch;
    return (budget_ + per_round - 1) / per_round;
  }

  [[nodiscard]] bool mixes_statistics() const {
    return learner_.statistics() == Statistics::kExchanged;
  }

  /// Of this worker's examples, before neighbours average for the last time, which makes of them
  /// those of all workers' examples: so everybody needs few of its own.
  void estimate_shared_statistics() {
    const int batches = stop_ ? kHastyBatches : shared_statistics_batches(workers_);
    estimate_statistics(learner_, data_, shard_, batches, config_.seed);
  }

  std::optional<WorkerOutcome> step() {
    const Clock::time_point begun = Clock::now();
    rate_ = schedule_.rate(exchange_->progress());
    learner_.set_learning_rate(rate_);
    const StepResult result =
        learner_.train_step(config_.augment ? loader_.next() : loader_.next_plain());
    if (!std::isfinite(result.loss)) {
      return WorkerOutcome{ExitCode::kNonFinite,
                           "the loss became " + std::to_string(result.loss) + " at step " +
                               std::to_string(steps_) +
                               "; lower the learning rate or lengthen the warm-up"};
    }
    stretch(since(begun) - result.waited);
    if (mixes_statistics() && steps_ + 1 == lock_steps_) estimate_shared_statistics();
    const auto batch = static_cast<std::uint64_t>(config_.batch);
    const Clock::time_point boundary = Clock::now();
    exchange_->exchange({.samples = batch, .loss = result.loss});
    exchange_seconds_ += since(boundary);
    ++steps_;
    samples_ += batch;
    loss_ += (result.loss - loss_) * weight();
    accuracy_ += (static_cast<double>(result.correct) / config_.batch - accuracy_) * weight();
    return std::nullopt;
  }

  /// Weight of the newest step in the decayed means: 1/n at first, then 1/50.
  [[nodiscard]] double weight() const {
    const double n = static_cast<double>(samples_) / config_.batch;
    return 1 / std::clamp(n, 1.0, 50.0);
  }

  /// For experiments with unequal workers: makes a step that computed for so long last `slow`
  /// times as long, or a little more.
  void stretch(double seconds) {
    const double factor = config_.slow * (1 + config_.jitter * random_.uniform());
    if (factor <= 1) return;
    const auto until = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                          std::chrono::duration<double>(seconds * (factor - 1)));
    while (!stop_ && Clock::now() < until) {
      std::this_thread::sleep_for(
          std::min<Clock::duration>(until - Clock::now(), std::chrono::milliseconds(100)));
    }
  }

  void report_progress() {
    const stencil::PumpStatus status = exchange_->status();
    const Clock::time_point now = Clock::now();
    WorkerProgress p;
    p.time = since(started_);
    p.step = steps_;
    p.samples = samples_;
    p.progress = std::min(1.0, exchange_->progress());
    p.network_samples = exchange_->progress() * static_cast<double>(budget_);
    const double interval = std::chrono::duration<double>(now - last_report_).count();
    if (interval > 0.05) {
      rate_of_samples_ = static_cast<double>(samples_ - reported_samples_) / interval;
      reported_samples_ = samples_;
      last_report_ = now;
    }
    p.samples_per_second = rate_of_samples_;
    p.loss = loss_;
    p.accuracy = accuracy_;
    p.network_loss = exchange_->network_loss();
    p.learning_rate = rate_;
    p.consensus_distance = status.relative_distance;
    p.exchange_seconds = exchange_seconds_;
    p.training_seconds = training_seconds_ > 0 ? training_seconds_ : since(training_began_);
    p.state = name(status.state);
    for (const auto& n : status.neighbours) {
      const double quiet =
          n.sweeps == 0 ? -1 : std::chrono::duration<double>(now - n.swept).count();
      p.neighbours.push_back({n.rank, std::string(stencil::name(n.link)), n.sweeps, n.bytes_sent,
                              std::chrono::duration<double, std::milli>(n.round_trip).count(),
                              quiet, n.shared, n.bytes_shared});
      note_change(n);
    }
    if (result_) {
      p.test_accuracy = result_->accuracy;
      p.test_loss = result_->loss;
    }
    metrics_.progress(p);
    if (metrics_.failed() && !std::exchange(blind_, true)) {
      log_(LogLevel::kError, folder_.metrics(config_.rank).string() +
                                 " can no longer be written; training goes on without it");
    }
  }

  /// A neighbour that comes or goes is an event of the run.
  void note_change(const stencil::NeighbourStatus& n) {
    const auto [it, fresh] = links_.try_emplace(n.rank, n.link);
    if (fresh || it->second == n.link) return;
    const std::string text = "neighbour " + std::to_string(n.rank) + " is " +
                             std::string(stencil::name(n.link)) + " (was " +
                             std::string(stencil::name(it->second)) + ")";
    it->second = n.link;
    metrics_.event(since(started_), std::string(stencil::name(n.link)), text);
    log_(LogLevel::kInfo, text);
  }

  /// What ended the run has not spoilt the model: hours of training are kept.
  void salvage() {
    if (steps_ == 0) return;
    try {
      save();
    } catch (const std::exception& error) {
      log_(LogLevel::kError, std::string("the model so far cannot be saved: ") + error.what());
    }
  }

  void save() {
    nlohmann::json exchanged = nlohmann::json::array();
    for (const auto& slot : learner_.adapter().parameters()) exchanged.push_back(slot.name);
    const std::vector<NamedTensor> state = learner_.adapter().state();
    save_safetensors(folder_.worker_model(config_.rank), state,
                     {{kExchangedKey, exchanged.dump()},
                      {"model", config_.model},
                      {"rank", std::to_string(config_.rank)}});
  }

  const WorkerConfig& config_;
  const Dataset& data_;
  Learner& learner_;
  const std::atomic<bool>& stop_;
  RunFolder folder_;
  int workers_;
  std::uint64_t budget_;
  std::vector<std::uint32_t> shard_;
  std::uint64_t lock_steps_;  ///< 0: not in lock-step
  Schedule schedule_;
  stencil::Random random_;
  EarlyLog log_;
  TrainLoader loader_;
  std::unique_ptr<Exchange> exchange_;
  MetricsWriter metrics_;

  Clock::time_point started_ = Clock::now(), training_began_ = started_, last_report_ = started_;
  double training_seconds_ = 0, exchange_seconds_ = 0, loss_ = 0, accuracy_ = 0, rate_ = 0,
         rate_of_samples_ = 0;
  std::uint64_t steps_ = 0, samples_ = 0, reported_samples_ = 0;
  std::optional<TestResult> result_;
  std::map<int, stencil::LinkState> links_;
  bool blind_ = false;  ///< metrics can no longer be written
};

}  // namespace

Worker::Worker(const WorkerConfig& config, const Dataset& data, Learner& learner, MakeExchange make)
    : config_(config), data_(data), learner_(learner), make_(std::move(make)) {
  if (make_) return;
  make_ = [](ModelAdapter& adapter, SessionOptions options) {
    return std::make_unique<Session>(adapter, std::move(options));
  };
}

WorkerOutcome Worker::run(const std::atomic<bool>& stop) {
  return Run(config_, data_, learner_, make_, stop).execute();
}

}  // namespace fast
