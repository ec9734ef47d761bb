#include "fast/session/recorder.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <sstream>
#include <utility>

#include "fast/version.h"

namespace fast {
namespace {

/// Rates over shorter intervals are not shown.
constexpr double kShortestInterval = 0.05;
/// Seconds of training after which its traffic is told.
constexpr double kTellsTrafficAfter = 10;
/// The memory of the decayed means of loss and accuracy, in steps.
constexpr double kMemory = 50;

/// Of the newest of `count` values in their decayed mean.
double weight(std::uint64_t count) {
  return 1 / std::clamp(static_cast<double>(count), 1.0, kMemory);
}

}  // namespace

Recorder::Recorder(const std::filesystem::path& file, WorkerStart start, std::uint64_t steps,
                   LogSink log)
    : file_(file),
      metrics_(file),
      log_(std::move(log)),
      budget_(static_cast<double>(start.budget)),
      epochs_(start.epochs),
      workers_(start.workers) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  start.unix_time = std::chrono::duration<double>(now).count();
  start.version = FAST_VERSION;
  start.resumed = steps > 0;
  metrics_.start(start);
  if (start.resumed) event("resumed", "goes on from step " + std::to_string(steps));
}

double Recorder::since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double Recorder::since_report() const {
  return since(last_report_);
}

void Recorder::begin_training(const Exchange& exchange) {
  const SessionStatus status = exchange.status();
  if (const auto from = status.joined_from) {
    event("joined", "took over the model of worker " + std::to_string(*from));
  }
  if (const auto from = status.initial_from) {
    event("joined", "began with the initial weights of worker " + std::to_string(*from));
  }
  training_began_ = last_report_ = Clock::now();
  report(exchange);
}

void Recorder::end_training() {
  training_seconds_ = since(training_began_);
}

void Recorder::set_result(std::optional<double> accuracy, double loss, double seconds) {
  test_accuracy_ = accuracy;
  test_loss_ = loss;
  training_began_ +=
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

void Recorder::add_step(const RecordedStep& step) {
  ++steps_;
  samples_ += step.samples;
  learning_rate_ = step.learning_rate;
  if (step.loss && std::isfinite(*step.loss)) loss_ += (*step.loss - loss_) * weight(++losses_);
  if (!step.accuracy) return;
  const double before = accuracy_.value_or(*step.accuracy);
  accuracy_ = before + (*step.accuracy - before) * weight(steps_);
}

void Recorder::update_rate(Clock::time_point now) {
  const double interval = std::chrono::duration<double>(now - last_report_).count();
  if (interval <= kShortestInterval) return;
  sample_rate_ = static_cast<double>(samples_ - reported_samples_) / interval;
  reported_samples_ = samples_;
  last_report_ = now;
}

double Recorder::network_samples(const Exchange& exchange) const {
  const double aim = budget_ > 0 ? budget_ : epochs_ * workers_ * exchange.status().mean_data_size;
  return exchange.progress() * aim;
}

void Recorder::report(const Exchange& exchange) {
  const SessionStatus status = exchange.status();
  update_rate(Clock::now());
  WorkerProgress p;
  p.time = since(started_);
  p.step = steps_;
  p.samples = samples_;
  p.progress = std::min(1.0, exchange.progress());
  p.network_samples = network_samples(exchange);
  p.samples_per_second = sample_rate_;
  p.loss = losses_ > 0 ? loss_ : std::nan("");
  p.accuracy = accuracy_;
  p.network_loss = exchange.network_loss();
  p.learning_rate = learning_rate_;
  p.consensus_distance = status.consensus_distance;
  p.exchange_seconds = exchange_seconds_;
  p.training_seconds = training_seconds_.value_or(since(training_began_));
  p.state = name(status.state);
  for (const NeighbourStatus& n : status.neighbours) {
    p.neighbours.push_back({n.rank, std::string(link_name(n)), n.sweeps, n.bytes_sent,
                            1000 * n.round_trip, n.since_sweep, n.shared, n.bytes_shared,
                            n.other_grid});
    note_change(n);
    note_grid(n);
  }
  p.test_accuracy = std::exchange(test_accuracy_, std::nullopt);
  p.test_loss = std::exchange(test_loss_, std::nullopt);
  p.said = std::exchange(said_, {});
  p.means = {status.means.begin(), status.means.end()};
  metrics_.progress(p);
  note_room();
  note_traffic(status);
}

void Recorder::note_traffic(const SessionStatus& status) {
  const double seconds = training_seconds_.value_or(since(training_began_));
  if (told_traffic_ || (!training_seconds_ && seconds < kTellsTrafficAfter)) return;
  double bytes = 0;
  for (const NeighbourStatus& n : status.neighbours) {
    if (!n.shared) bytes += static_cast<double>(n.bytes_sent);
  }
  told_traffic_ = true;
  if (bytes <= 0 || seconds <= 0) return;
  std::ostringstream text;
  text << std::setprecision(3) << "sends " << bytes / seconds * 3600 / 1e9
       << " GB an hour over the network at this pace, all its neighbours together; fewer sweeps or "
          "a coarser codec make it less";
  log_(LogLevel::kInfo, text.str());
}

void Recorder::note_room() {
  if (metrics_.behind() == std::exchange(behind_, metrics_.behind())) return;
  if (behind_) {
    log_(LogLevel::kError, file_.string() +
                               " cannot be written now; training goes on, and it is tried again: "
                               "make room on the disk");
  } else {
    log_(LogLevel::kInfo, file_.string() + " is written again");
  }
}

void Recorder::note_change(const NeighbourStatus& neighbour) {
  const std::string now(link_name(neighbour));
  const auto [it, fresh] = links_.try_emplace(neighbour.rank, now);
  if (fresh || it->second == now) return;
  const std::string text = "neighbour " + std::to_string(neighbour.rank) + " is " + now + " (was " +
                           std::exchange(it->second, now) + ")";
  event(now, text);
  log_(LogLevel::kInfo, text);
}

void Recorder::note_grid(const NeighbourStatus& neighbour) {
  const auto [it, fresh] = other_grids_.try_emplace(neighbour.rank, false);
  if (std::exchange(it->second, neighbour.other_grid) == neighbour.other_grid) return;
  event("grid",
        "the grid of neighbour " + std::to_string(neighbour.rank) +
            (neighbour.other_grid ? " is another than this worker's" : " is this worker's again"));
}

void Recorder::event(const std::string& name, const std::string& text) {
  metrics_.event(since(started_), name, text);
}

void Recorder::end(int exit_code, const std::string& text,
                   const std::map<std::string, std::uint64_t, std::less<>>& counters) {
  metrics_.end({.time = since(started_),
                .exit_code = exit_code,
                .text = text,
                .counters = {counters.begin(), counters.end()}});
  note_room();
}

}  // namespace fast
