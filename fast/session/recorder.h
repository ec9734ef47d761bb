#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "fast/run/metrics.h"
#include "fast/session/exchange.h"

namespace fast {

/// What one local step did.
struct RecordedStep {
  std::uint64_t samples = 0;
  std::optional<double> loss{};      ///< nothing where it is not known
  std::optional<double> accuracy{};  ///< share of its samples; nothing where it is not known
  double learning_rate = 0;
};

/// Records what one worker does in its metrics.jsonl: decayed means of loss and accuracy, rates,
/// and an event for each neighbour that comes or goes, or stands on another grid. One thread.
class Recorder {
 public:
  /// Writes `start`, with the present time, our version and whether the worker was resumed: where
  /// it had made `steps` before. Throws FileError where `file` cannot be opened.
  Recorder(const std::filesystem::path& file, WorkerStart start, std::uint64_t steps, LogSink log);

  /// The worker has joined: writes whose model it took over, if anybody's, and a first line.
  void begin_training(const Exchange& exchange);
  void end_training();
  /// add_step(): one local step. The other: the time that its exchange() took.
  void add_step(const RecordedStep& step);
  void add_exchange(double seconds) { exchange_seconds_ += seconds; }
  /// On the test set, for the next report(). It took so many seconds, which are none of training.
  void set_result(std::optional<double> accuracy, double loss, double seconds = 0);
  /// A number of this name that the worker has told the others, for the next report().
  void say(std::string_view name, double value) { said_[std::string(name)] = value; }
  /// Samples of all workers, as far as is known.
  [[nodiscard]] double network_samples(const Exchange& exchange) const;
  /// Seconds since the last report(); begin_training() counts as one.
  [[nodiscard]] double since_report() const;
  /// Writes a line of progress. Logs when the file cannot be written, and when it can again.
  void report(const Exchange& exchange);
  void event(const std::string& name, const std::string& text);
  void end(int exit_code, const std::string& text,
           const std::map<std::string, std::uint64_t, std::less<>>& counters);

  /// The steps of this life.
  [[nodiscard]] std::uint64_t steps() const { return steps_; }

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] static double since(Clock::time_point start);
  void update_rate(Clock::time_point now);
  void note_change(const NeighbourStatus& neighbour);
  void note_grid(const NeighbourStatus& neighbour);
  void note_room();
  /// Once, early in training or when it ends: what goes over the network in an hour at this pace.
  void note_traffic(const SessionStatus& status);

  std::filesystem::path file_;
  MetricsWriter metrics_;
  LogSink log_;
  double budget_;  ///< samples over all workers; 0: see epochs_
  double epochs_;  ///< passes over the examples of all `workers_`
  int workers_;
  Clock::time_point started_ = Clock::now(), training_began_ = started_, last_report_ = started_;
  std::optional<double> training_seconds_;  ///< set when training is over
  double exchange_seconds_ = 0, loss_ = 0, learning_rate_ = 0, sample_rate_ = 0;
  std::optional<double> accuracy_, test_accuracy_, test_loss_;
  std::uint64_t steps_ = 0, losses_ = 0, samples_ = 0, reported_samples_ = 0;
  std::map<std::string, double> said_;
  std::map<int, std::string> links_;
  std::map<int, bool> other_grids_;
  bool told_traffic_ = false;
  bool behind_ = false;  ///< metrics could not be written; that was said
};

}  // namespace fast
