#include "bench/compare/matrix.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <exception>
#include <mutex>
#include <thread>

#include "bench/compare/interrupted.h"
#include "bench/compare/report/report.h"
#include "bench/compare/virtual/virtual_run.h"
#include "fast/data/loader.h"
#include "fast/programs/signals.h"

namespace fast::compare {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string readable(double seconds) {
  if (seconds < 100) return fmt::format("{:.0f} s", seconds);
  if (seconds < 6000) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

/// Samples that a cell trains on, all workers together: what its duration goes by.
double work(const Cell& cell) {
  const double used = static_cast<double>(cell.job.examples == 0 ? 50000 : cell.job.examples) -
                      static_cast<double>(cell.job.validation);
  const double stretch = cell.time == TimeKind::kReal && !cell.condition.slow.empty() ? 3 : 1;
  return cell.job.epochs * used * stretch;
}

/// What is shown while cells are made: a line for each that is done and, on a terminal, one that
/// changes. Any thread.
class Board {
 public:
  Board(bool quiet, std::size_t cells, double work_to_do)
      : quiet_(quiet),
        live_(!quiet && isatty(STDERR_FILENO) == 1),
        cells_(cells),
        left_(work_to_do) {}

  void begin(const Cell& cell) {
    if (quiet_ || live_) return;
    const std::lock_guard lock(mutex_);
    fmt::print(stderr, "begin  {}\n", title(cell));
  }

  void shown(const Cell& cell, double share) {
    if (!live_) return;
    const std::lock_guard lock(mutex_);
    if (since(drawn_) < 0.2) return;
    drawn_ = Clock::now();
    fmt::print(stderr, "\r\x1b[K[{}/{}] {} {:.0f} %{}", done_, cells_, title(cell), 100 * share,
               remaining(work(cell) * share));
  }

  void end(const Cell& cell, const CellResult& result, double seconds) {
    const std::lock_guard lock(mutex_);
    ++done_;
    worked_ += work(cell);
    left_ -= work(cell);
    if (quiet_) return;
    const std::string outcome =
        result.diverged           ? "diverged"
        : !result.failure.empty() ? "failed: " + result.failure.substr(0, result.failure.find('\n'))
        : result.mean_model       ? fmt::format("{:.2f} %", 100 * *result.mean_model)
                                  : "no model";
    fmt::print(stderr, "{}[{}/{}] {}: {}, {:.1f} s of {} time, took {}{}\n",
               live_ ? "\r\x1b[K" : "", done_, cells_, title(cell), outcome,
               result.training_seconds, cell.time == TimeKind::kReal ? "real" : "virtual",
               readable(seconds), remaining(0));
  }

 private:
  [[nodiscard]] std::string remaining(double under_way) const {
    const double worked = worked_ + under_way;
    if (worked <= 0 || left_ - under_way <= 0) return "";
    return fmt::format("; about {} left", readable(since(start_) * (left_ - under_way) / worked));
  }

  bool quiet_, live_;
  std::mutex mutex_;
  std::size_t cells_, done_ = 0;
  double worked_ = 0, left_;
  Clock::time_point start_ = Clock::now(), drawn_{};
};

class Matrix {
 public:
  Matrix(const Spec& spec, const CellStore& store, const MatrixOptions& options)
      : store_(store), options_(options), signals_(false), machine_(describe_machine()) {
    double to_do = 0;
    for (const Cell& cell : spec.cells) {
      if (store.find(cell)) continue;
      missing_.push_back(cell);
      to_do += work(cell);
    }
    board_ = std::make_unique<Board>(options.quiet, missing_.size(), to_do);
    if (!options.quiet) {
      fmt::print(stderr, "{}: {} cells, {} of them to be made\n", spec.name, spec.cells.size(),
                 missing_.size());
    }
  }

  void run() {
    const bool real = std::ranges::any_of(
        missing_, [](const Cell& cell) { return cell.time == TimeKind::kReal; });
    std::vector<std::thread> helpers;
    for (int i = 1; i < options_.jobs && !real; ++i) helpers.emplace_back([this] { work_off(); });
    work_off();
    for (std::thread& helper : helpers) helper.join();
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void work_off() {
    try {
      for (std::size_t i = next_++; i < missing_.size(); i = next_++) {
        if (stopped_) return;
        if (options_.hours > 0 && since(start_) > options_.hours * 3600) return;
        const Clock::time_point begun = Clock::now();
        board_->begin(missing_[i]);
        const CellResult result = make(missing_[i]);
        board_->end(missing_[i], result, since(begun));
      }
    } catch (...) {
      stopped_ = true;
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
    }
  }

  CellResult make(const Cell& cell) {
    const Cell twin = timeless(cell);
    if (hash(twin) == hash(cell)) return make_itself(cell);
    CellResult result;
    {
      // Several conditions may wait for one twin: it is made once.
      const std::lock_guard lock(twins_);
      const std::optional<CellResult> known = store_.find(twin);
      result = known ? *known : make_itself(twin);
    }
    const double bytes = static_cast<double>(
        make_learner(cell, dataset_shape(data_spec(cell.job, options_.real.places)), 1)
            ->adapter()
            .values()
            .size_bytes());
    result = retimed(cell, std::move(result), bytes);
    store_.keep(cell, result);
    return result;
  }

  CellResult make_itself(const Cell& cell) {
    if (const auto known = store_.find(cell)) return *known;
    const Clock::time_point begun = Clock::now();
    const Split split = load_split(cell, options_.real.places);
    const auto shown = [&](double share) {
      heed_signals();
      board_->shown(cell, share);
    };
    CellResult result = cell.time == TimeKind::kReal ? run_really(cell, split, options_.real, shown)
                                                     : run_virtually(cell, split, shown);
    result.wall_seconds = since(begun);
    result.machine = machine_;
    result.version = FAST_VERSION;
    if (result.failure.empty()) store_.keep(cell, result);
    return result;
  }

  void heed_signals() {
    const std::lock_guard lock(mutex_);
    if (stopped_ || signals_.next() != 0) {
      stopped_ = true;
      throw Interrupted();
    }
  }

  const CellStore& store_;
  const MatrixOptions& options_;
  SignalQueue signals_;
  std::string machine_;
  std::vector<Cell> missing_;
  std::unique_ptr<Board> board_;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> stopped_{false};
  std::mutex mutex_, twins_;
  std::exception_ptr failure_;
  Clock::time_point start_ = Clock::now();
};

}  // namespace

std::vector<Finished> run_matrix(const Spec& spec, const CellStore& store,
                                 const MatrixOptions& options) {
  Matrix(spec, store, options).run();
  std::vector<Finished> out;
  for (const Cell& cell : spec.cells) {
    if (auto result = store.find(cell)) out.push_back({cell, std::move(*result)});
  }
  return out;
}

double measure_step(const Cell& cell, const DataPlaces& places) {
  constexpr int kWarm = 5, kMeasured = 40;
  const Split split = load_split(cell, places);
  const auto learner = make_learner(cell, split.training.train.shape, 1);
  std::vector<std::uint32_t> all(split.training.train.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint32_t>(i);
  TrainLoader loader(split.training, std::move(all), static_cast<std::size_t>(cell.job.batch), 1);
  std::vector<double> times;
  for (int i = 0; i < kWarm + kMeasured; ++i) {
    const Clock::time_point begun = Clock::now();
    (void)learner->train_step(loader.next());
    if (i >= kWarm) times.push_back(since(begun));
  }
  std::ranges::nth_element(times, times.begin() + kMeasured / 2);
  return times[kMeasured / 2];
}

}  // namespace fast::compare
