#pragma once

#include <filesystem>
#include <optional>

#include "bench/compare/evaluator.h"
#include "fast/session/exchange.h"

namespace fast::compare {

/// A worker's weights at one mark of the budget, and the time of that.
struct Snapshot {
  double seconds = 0;  ///< since this worker joined
  double samples = 0;  ///< trained by this worker
  double bytes = 0;    ///< sent by this worker
  Weights weights;
};

/// Forwards to another exchange and saves the worker's weights at each mark, below `folder`. Saving
/// happens after the boundary and does not count as exchange.
class SnapshotExchange final : public Exchange {
 public:
  SnapshotExchange(ModelAdapter& adapter, std::unique_ptr<Exchange> inner,
                   std::filesystem::path folder);
  void join() override;
  void exchange(const StepReport& report) override;
  Agreement finish() override { return inner_->finish(); }
  double progress() const override { return inner_->progress(); }
  double network_loss() const override { return inner_->network_loss(); }
  Decisions* decisions() override { return inner_->decisions(); }
  SessionStatus status() const override { return inner_->status(); }

 private:
  void save(int index);

  ModelAdapter& adapter_;
  std::unique_ptr<Exchange> inner_;
  std::filesystem::path folder_;
  double joined_ = 0;
  std::uint64_t samples_ = 0;
  int next_ = 0;
};

/// Returns nothing where this worker did not reach that mark.
[[nodiscard]] std::optional<Snapshot> read_snapshot(const std::filesystem::path& folder, int index,
                                                    std::size_t parameters);

}  // namespace fast::compare
