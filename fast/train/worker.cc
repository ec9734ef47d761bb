#include "fast/train/worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "fast/data/loader.h"
#include "fast/data/partition.h"
#include "fast/error_text.h"
#include "fast/errors.h"
#include "fast/options/peers.h"
#include "fast/run/atomic_file.h"
#include "fast/run/run_folder.h"
#include "fast/run/summary.h"
#include "fast/session/recorder.h"
#include "fast/session/session.h"
#include "fast/train/aim.h"
#include "fast/train/data_notes.h"
#include "fast/train/deferred_log.h"
#include "fast/train/evaluation.h"
#include "fast/train/held_memory.h"
#include "fast/train/judgement.h"
#include "fast/train/log.h"
#include "fast/train/memory_watch.h"
#include "fast/train/model_keeper.h"
#include "fast/train/models.h"
#include "fast/train/progress_line.h"
#include "fast/train/regular_evaluation.h"
#include "fast/train/run_state.h"
#include "fast/train/schedule.h"
#include "fast/train/slow_steps.h"
#include "fast/train/too_late.h"
#include "fast/train/worker_life.h"
#include "stencil/core/random.h"
#include "stencil/core/topology.h"

namespace fast {
namespace {

using Clock = std::chrono::steady_clock;

/// Batches for re-estimating the statistics of a model that was stopped early.
constexpr int kHastyBatches = 2;

// Each worker has its own streams of random numbers, derived from the seed and these constants.
constexpr std::uint64_t kJitterStream = 0x6a697474ULL;
constexpr std::uint64_t kLoaderStream = 0x6c6f6164ULL;

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// What a worker keeps while it pauses.
struct Stay {
  explicit Stay(const WorkerConfig& config)
      : life(RunFolder(config.out).worker(config.session.rank)), fresh(config.fresh) {}
  WorkerLife life;
  DeferredLog log;
  bool fresh;           ///< begin anew even where there is a checkpoint
  bool paused = false;  ///< the last TrainingRun has ended so
};

/// One run of one worker, from its start to its end or its pause: the state of Worker::run()
/// between its stages.
class TrainingRun {
 public:
  TrainingRun(const WorkerConfig& config, const Dataset& data, Learner& learner,
              const MakeExchange& make, const std::atomic<bool>& stop, const PauseWish* pause,
              Stay& stay)
      : config_(config),
        rank_(config.session.rank),
        data_(data),
        learner_(learner),
        stop_(stop),
        pause_(pause),
        stay_(stay),
        folder_(config.out),
        life_(stay.life),
        log_(stay.log),
        model_(config, learner.adapter(),
               [this](LogLevel level, std::string_view text) { log_(level, text); }),
        workers_(stencil::Topology::parse(config.session.topology).size()),
        ended_before_(ended_in_agreement(folder_, workers_, rank_, config.session.run_id)),
        budget_(budget_of(config, data)),
        shard_(partition(data.train->labels(), config.partition, workers_, rank_, seed())),
        lock_steps_(lock_step_count(config, budget_)),
        schedule_(Schedule::parse(config.schedule, config.optimizer.learning_rate, config.warmup)),
        random_(stencil::Random::derive(seed(), kJitterStream + rank_)),
        loader_(data, shard_, static_cast<std::size_t>(config.batch),
                stencil::Random::derive(seed(), kLoaderStream + rank_)),
        state_(learner.adapter(), loader_, random_),
        evaluation_(config.evaluation, learner, data, model_, stop),
        exchange_(make(learner.adapter(), session_options())),
        recorder_(open_folder(), start_of(config, budget_, stay.fresh), state_.steps(),
                  [this](LogLevel level, std::string_view text) { log_(level, text); }) {
    write_atomically(folder_.endpoint(rank_), exchange_->status().endpoint + "\n");
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
    } catch (const DataError& error) {
      outcome = {ExitCode::kData, error.what()};
      salvage();
    } catch (const std::exception& error) {
      outcome = {ExitCode::kFailure, error_text(error)};
      salvage();
    }
    const bool well = outcome.code == ExitCode::kOk || outcome.code == ExitCode::kInterrupted;
    log_(well ? LogLevel::kInfo : LogLevel::kError, outcome.text.empty() ? "done" : outcome.text);
    SessionStatus status = exchange_->status();
    status.counters["examples_left_out"] = loader_.left_out().count;
    exchange_.reset();  // sends Leave, which may take a moment
    recorder_.end(static_cast<int>(outcome.code), outcome.text, status.counters);
    return outcome;
  }

 private:
  [[nodiscard]] std::uint64_t seed() const { return config_.session.seed; }

  [[nodiscard]] SessionOptions session_options() {
    SessionOptions options = common_options(config_, data_, budget_);
    options.data_size = shard_.size();
    options.generation = life_.generation();
    options.checkpoint = literal_in_template(folder_.checkpoint(rank_).string());
    options.checkpoint_every = config_.checkpoint_every;
    if (!stay_.fresh) options.resume = options.checkpoint;
    if (config_.evaluation.on()) {
      options.means =
          fmt::format("{},{}", RegularEvaluation::kTestAccuracy, RegularEvaluation::kTestLoss);
    }
    options.held_beside = held_beside(config_, data_, shard_.size(), learner_.adapter());
    options.stop = &stop_;
    options.pause = &pausing_;
    options.waiting = [this, also = options.waiting] {
      if (also) also();
      heed_pause();
    };
    options.log = [this](LogLevel level, std::string_view text) { log_(level, text); };
    return options;
  }

  std::filesystem::path open_folder() {
    make_writable_folder(folder_.worker(rank_));
    model_.reserve_room();
    life_.settle([this](LogLevel level, std::string_view text) { log_(level, text); });
    if (!log_.is_open()) {
      log_.open(make_log(folder_.log(rank_), config_.log_level, config_.quiet,
                         config_.log_style == "journal" ? LogStyle::kJournal : LogStyle::kPlain,
                         rank_));
    }
    const std::string source = config_.rank_source;
    log_(LogLevel::kInfo,
         fmt::format("rank {} of {} ({}){}: {} of {}, {} examples here; run folder {}", rank_,
                     workers_, config_.session.topology, source.empty() ? "" : ", from " + source,
                     config_.model, config_.data, shard_.size(), folder_.root().string()));
    if (!config_.begun.empty()) log_(LogLevel::kInfo, config_.begun);
    if (!config_.advice.empty()) log_(LogLevel::kWarning, config_.advice);
    return folder_.metrics(rank_);
  }

  WorkerOutcome train() {
    const bool over = trained();  // it was when the checkpoint was made, statistics and all
    exchange_->join();
    recorder_.begin_training(*exchange_);
    if (const auto lacking = lacking_classes(data_, shard_)) note_data(LogLevel::kInfo, *lacking);
    evaluation_.begin(exchange_->progress());
    while (!stop_ && !heed_pause() && !trained()) {
      if (const auto failure = step()) return *failure;
      const auto evaluated = evaluation_.look(*exchange_, recorder_);
      if (evaluated) log_(LogLevel::kInfo, *evaluated);
      if (evaluated || recorder_.since_report() >= config_.report_every) {
        recorder_.report(*exchange_);
        look_around();
        if (config_.tell) config_.tell(progress_line(*exchange_, state_.steps()));
      }
    }
    recorder_.end_training();
    recorder_.report(*exchange_);
    look_around();
    const bool ends = !pausing_ || stop_;
    if (mixes_statistics() && ends && !over && (lock_steps_ == 0 || stop_) && state_.steps() > 0) {
      try_to_save();
      estimate_shared_statistics();
    }
    const bool early = stop_;
    const Agreement agreement = exchange_->finish();
    if (agreement == Agreement::kPaused) return pause();
    if (early && state_.steps() == 0) {
      return {ExitCode::kInterrupted,
              "stopped on request before its first step; no model is saved"};
    }
    if (agreement == Agreement::kAgreed || !stop_) ended_ = name(agreement);
    try_to_save();  // before evaluation, which may take long
    WorkerOutcome outcome{ExitCode::kInterrupted,
                          "stopped early on request; the model so far is saved"};
    if (!early) {
      recorder_.report(*exchange_);
      outcome = outcome_after(agreement);
    }
    if (model_.unsaved()) model_.save(ended_);  // there may be room by now
    return outcome;
  }

  void look_around() {
    if (const auto line = memory_.look(*exchange_)) log_(LogLevel::kWarning, *line);
    if (const auto line = left_out_examples(loader_, told_left_out_)) {
      note_data(LogLevel::kWarning, *line);
    }
  }

  void note_data(LogLevel level, const std::string& text) {
    recorder_.event("data", text);
    log_(level, text);
  }

  /// Notes that this run of the worker is to end in a pause, which it then does.
  bool heed_pause() {
    if (pause_ != nullptr && pause_->wanted()) pausing_ = true;
    return pausing_;
  }

  WorkerOutcome pause() {
    const std::string text = "paused: " + pause_->why();
    recorder_.event("paused", text);
    if (state_.steps() > 0) {
      try_to_save();
      stay_.fresh = false;
    }
    stay_.paused = true;
    if (config_.tell) config_.tell(text);
    return {ExitCode::kInterrupted, text + "; goes on when that is over"};
  }

  /// Training is over and the model is saved.
  WorkerOutcome outcome_after(Agreement agreement) {
    recorder_.event("evaluating", "training is over; evaluating");
    if (config_.tell) config_.tell("training is over; evaluating");
    if (!stop_ && learner_.statistics() == Statistics::kLocal) {
      estimate_statistics(learner_, data_, shard_, kStatisticsBatches, seed(), &stop_);
      try_to_save();
    }
    const std::optional<TestResult> result = test(learner_, data_, stop_);
    if (!result) {
      return {ExitCode::kInterrupted,
              "stopped on request after training; the model is saved, but not evaluated"};
    }
    recorder_.set_result(known(result->accuracy), result->loss);
    evaluation_.end(*exchange_, *result);
    log_(LogLevel::kInfo, in_words(*result));
    recorder_.report(*exchange_);
    const SessionStatus status = exchange_->status();
    const bool alone = !status.has_exchanged();
    const bool apart = agreement == Agreement::kAlone || (alone && agreement != Agreement::kAgreed);
    return judgement({.agreement = agreement,
                      .stopped = stop_,
                      .alone = alone,
                      .rests = status.counter("data_rests") > 0,
                      .paused = std::ranges::any_of(status.neighbours, &NeighbourStatus::paused),
                      .late = apart && !stop_ ? too_late(folder_, ended_before_) : "",
                      .result = *result,
                      .samples = recorder_.network_samples(*exchange_),
                      .grown = status.not_learnt},
                     config_.session.exchange);
  }

  [[nodiscard]] bool trained() const {
    if (lock_steps_ > 0) return state_.steps() >= lock_steps_;
    return exchange_->progress() >= kWholeRun || evaluation_.stops(*exchange_);
  }

  [[nodiscard]] bool mixes_statistics() const {
    return learner_.statistics() == Statistics::kExchanged;
  }

  /// Estimates statistics on this worker's own examples. The averaging that follows makes them
  /// statistics of all workers' examples, so a few batches of its own are enough.
  void estimate_shared_statistics() {
    const int batches = stop_ ? kHastyBatches : shared_statistics_batches(workers_);
    estimate_statistics(learner_, data_, shard_, batches, seed(), &stop_);
  }

  /// The learning rate's factor, see WorkerConfig::weighting.
  [[nodiscard]] double weight() const {
    if (config_.weighting == "workers") return 1;
    const double mean = exchange_->status().mean_data_size;
    return mean > 0 ? static_cast<double>(shard_.size()) / mean : 1;
  }

  std::optional<WorkerOutcome> step() {
    const Clock::time_point begun = Clock::now();
    const double rate = schedule_.rate(exchange_->progress()) * weight();
    learner_.set_learning_rate(rate);
    const StepResult result =
        learner_.train_step(config_.augment ? loader_.next() : loader_.next_plain());
    if (!std::isfinite(result.loss)) {
      return WorkerOutcome{ExitCode::kNonFinite,
                           "the loss became " + std::to_string(result.loss) + " at step " +
                               std::to_string(state_.steps()) +
                               "; lower the learning rate or lengthen the warm-up"};
    }
    slow_.stretch(since(begun) - result.waited);
    state_.add_step();
    const auto samples = static_cast<std::uint64_t>(config_.batch);
    recorder_.add_step({.samples = samples,
                        .loss = result.loss,
                        .accuracy = known(result.correct / config_.batch),
                        .learning_rate = rate});
    if (mixes_statistics() && state_.steps() == lock_steps_) estimate_shared_statistics();
    const Clock::time_point boundary = Clock::now();
    exchange_->exchange({.samples = samples, .loss = result.loss});
    recorder_.add_exchange(since(boundary));
    return std::nullopt;
  }

  /// Saves the model where the run failed for another reason, so that hours of training are not
  /// lost.
  void salvage() {
    if (state_.steps() > 0) try_to_save();
  }

  void try_to_save() { model_.try_to_save(ended_); }

  const WorkerConfig& config_;
  int rank_;
  const Dataset& data_;
  Learner& learner_;
  const std::atomic<bool>& stop_;
  const PauseWish* const pause_;       ///< null: there is none
  std::atomic<bool> pausing_ = false;  ///< and stays so
  Stay& stay_;
  RunFolder folder_;
  WorkerLife& life_;
  DeferredLog& log_;
  ModelKeeper model_;
  int workers_;
  std::vector<int> ended_before_;  ///< others, before this worker began
  std::uint64_t budget_;
  std::vector<std::uint32_t> shard_;
  std::uint64_t lock_steps_;  ///< 0: not in lock-step
  Schedule schedule_;
  stencil::Random random_;
  SlowSteps slow_{config_.slow, config_.jitter, random_, [this] { return stop_ || heed_pause(); }};
  std::string ended_ = kEndedEarly;  ///< see kEndedKey
  TrainLoader loader_;
  RunState state_;
  RegularEvaluation evaluation_;
  std::unique_ptr<Exchange> exchange_;
  Recorder recorder_;
  MemoryWatch memory_{config_.memory_before};
  bool told_left_out_ = false;
};

}  // namespace

Worker::Worker(const WorkerConfig& config, const Dataset& data, Learner& learner, MakeExchange make)
    : config_(config), data_(data), learner_(learner), make_(std::move(make)) {
  if (make_) return;
  make_ = [](ModelAdapter& adapter, SessionOptions options) {
    return std::make_unique<Session>(adapter, std::move(options));
  };
}

WorkerOutcome Worker::run(const std::atomic<bool>& stop, PauseWish* pause) {
  Stay stay(config_);
  for (;;) {
    stay.paused = false;
    WorkerOutcome outcome =
        TrainingRun(config_, data_, learner_, make_, stop, pause, stay).execute();
    if (!stay.paused) return outcome;
    if (!pause->wait(stop, config_.session.waiting)) {
      outcome.text = "stopped on request while it was paused";
      stay.log(LogLevel::kInfo, outcome.text);
      return outcome;
    }
    stay.life.begin_again();
  }
}

}  // namespace fast
