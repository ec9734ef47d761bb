#include "bench/compare/matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "bench/compare/estimate.h"
#include "bench/compare/interrupted.h"
#include "bench/compare/progress_display.h"
#include "bench/compare/revision.h"
#include "bench/compare/seconds.h"
#include "bench/compare/virtual/virtual_run.h"
#include "bench/support/machine.h"
#include "fast/programs/launch/signals.h"

namespace fast::compare {
namespace {

using Clock = std::chrono::steady_clock;

class Matrix {
 public:
  Matrix(const Spec& spec, const CellStore& store, const MatrixOptions& options)
      : comparison_(spec.name),
        store_(store),
        options_(options),
        signals_(false),
        machine_(bench::describe_machine()) {
    for (const Cell& cell : spec.cells) {
      if (!store.find(cell)) missing_.push_back(cell);
    }
    const auto on_the_clock = [](const Cell& cell) { return cell.time != TimeKind::kVirtual; };
    std::ranges::stable_partition(missing_, on_the_clock);
    real_ = static_cast<std::size_t>(std::ranges::count_if(missing_, on_the_clock));
    Estimate estimate(options.real.places, !options.quiet);
    std::map<std::string, double> work;
    std::set<std::string> twins;
    double real = 0, modelled = 0;
    for (const Cell& cell : missing_) {
      const Cell twin = timeless(cell);
      const bool made_anyway =
          !twins.insert(hash(twin)).second ||
          (learns_by_any_clock(cell) && store.find_by_any_clock(twin).has_value());
      const double seconds = work[hash(cell)] = made_anyway ? 0 : estimate.seconds(cell);
      (on_the_clock(cell) ? real : modelled) += seconds;
    }
    display_ = std::make_unique<ProgressDisplay>(options.quiet, std::move(work));
    if (options.quiet) return;
    fmt::print(stderr, "{}: {} cells, {} of them to be made", spec.name, spec.cells.size(),
               missing_.size());
    if (!missing_.empty()) {
      fmt::print(stderr, ", in about {}", readable(real + modelled / side_by_side()));
      if (real_ > 0) fmt::print(stderr, ", those of real processes one at a time");
      if (real_ < missing_.size()) fmt::print(stderr, ", of virtual time {}", side_by_side());
    }
    fmt::print(stderr, "\n");
  }

  /// The result of a cell run by this command that did not end as the cell demands: it is shown,
  /// but not kept, so the next command runs the cell again.
  [[nodiscard]] std::optional<CellResult> unkept(const Cell& cell) const {
    const auto it = unkept_.find(hash(cell));
    return it == unkept_.end() ? std::nullopt : std::optional(it->second);
  }

  /// Runs cells of real processes one by one, since they need the whole machine; then cells of
  /// virtual time in parallel.
  void run() {
    work_off(real_);
    std::vector<std::thread> helpers;
    const std::size_t all = missing_.size();
    for (int i = 1; i < side_by_side(); ++i) helpers.emplace_back([this, all] { work_off(all); });
    work_off(all);
    for (std::thread& helper : helpers) helper.join();
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  [[nodiscard]] int side_by_side() const {
    return std::clamp(static_cast<int>(missing_.size() - real_), 1, options_.jobs);
  }

  /// Runs the remaining ones of the first `end` cells.
  void work_off(std::size_t end) {
    try {
      for (std::size_t i = take(end); i < end; i = take(end)) {
        if (stopped_) return;
        if (options_.hours > 0 && since(start_) > options_.hours * 3600) return;
        const Clock::time_point begun = Clock::now();
        display_->begin(missing_[i]);
        CellResult result = make(missing_[i]);
        display_->end(missing_[i], result, since(begun));
        if (worth_keeping(result)) continue;
        const std::lock_guard lock(mutex_);
        unkept_.insert_or_assign(hash(missing_[i]), std::move(result));
      }
    } catch (...) {
      stopped_ = true;
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
    }
  }

  std::size_t take(std::size_t end) {
    const std::lock_guard lock(mutex_);
    return next_ < end ? next_++ : end;
  }

  CellResult make(const Cell& cell) {
    if (!learns_by_any_clock(cell)) return make_itself(cell);
    const Cell twin = timeless(cell);
    std::optional<CellResult> known;
    if (hash(twin) == hash(cell)) {
      known = store_.find_by_any_clock(twin);
      if (!known) return make_itself(cell);
    } else {
      // Several conditions may wait for the same twin, which is computed once.
      const std::lock_guard lock(making(twin));
      known = store_.find_by_any_clock(twin);
      if (!known) known = make_itself(twin);
    }
    if (!worth_keeping(*known)) return *known;
    const CellResult result = retimed(cell, *std::move(known));
    store_.keep(comparison_, cell, result);
    return result;
  }

  std::mutex& making(const Cell& twin) {
    const std::lock_guard lock(mutex_);
    return twins_[hash(twin)];
  }

  static bool worth_keeping(const CellResult& result) {
    return result.failure.empty() && result.lost == 0;
  }

  CellResult make_itself(const Cell& cell) {
    if (const auto known = store_.find(cell)) return *known;
    const Clock::time_point begun = Clock::now();
    const Split split = load_split(cell, options_.real.places);
    const auto shown = [&](double share) {
      heed_signals();
      display_->shown(cell, share);
    };
    CellResult result = cell.time == TimeKind::kVirtual
                            ? run_virtually(cell, split, shown)
                            : run_really(cell, split, options_.real, shown);
    result.wall_seconds = since(begun);
    result.machine = machine_;
    result.version = revision();
    if (worth_keeping(result)) store_.keep(comparison_, cell, result);
    return result;
  }

  void heed_signals() {
    const std::lock_guard lock(mutex_);
    if (stopped_ || signals_.next() != 0) {
      stopped_ = true;
      throw Interrupted();
    }
  }

  const std::string comparison_;
  const CellStore& store_;
  const MatrixOptions& options_;
  SignalQueue signals_;
  std::string machine_;
  std::vector<Cell> missing_;
  std::size_t real_ = 0;  ///< the number of cells, at the front, that need the whole machine
  std::unique_ptr<ProgressDisplay> display_;
  std::size_t next_ = 0;
  std::atomic<bool> stopped_{false};
  std::mutex mutex_;
  std::map<std::string, std::mutex> twins_;   ///< by hash; guarded by mutex_
  std::map<std::string, CellResult> unkept_;  ///< by hash; guarded by mutex_
  std::exception_ptr failure_;
  Clock::time_point start_ = Clock::now();
};

/// The finished cells, in the spec's order.
std::vector<Finished> collect(const Spec& spec,
                              const std::function<std::optional<CellResult>(const Cell&)>& find) {
  std::vector<Finished> out;
  for (const Cell& cell : spec.cells) {
    if (auto result = find(cell)) out.push_back({cell, std::move(*result)});
  }
  return out;
}

}  // namespace

std::vector<Finished> run_matrix(const Spec& spec, const CellStore& store,
                                 const MatrixOptions& options) {
  Matrix matrix(spec, store, options);
  matrix.run();
  return collect(spec, [&](const Cell& cell) {
    const auto kept = store.find(cell);
    return kept ? kept : matrix.unkept(cell);
  });
}

std::vector<Finished> finished_cells(const Spec& spec, const CellStore& store) {
  return collect(spec, [&](const Cell& cell) { return store.find(cell); });
}

}  // namespace fast::compare
