#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "bench/compare/real/participant.h"
#include "fast/session/exchange.h"
#include "fast/session/session.h"

namespace fast::compare {

/// The exchange of a strategy that exchanges elsewhere or not at all: it only counts samples.
class CountedExchange final : public Exchange {
 public:
  /// `progress`, where given, replaces the count of the worker's own samples; `bytes` returns the
  /// bytes sent. The training thread calls both.
  CountedExchange(int workers, std::uint64_t budget, std::function<double()> progress = {},
                  std::function<std::uint64_t()> bytes = {})
      : share_(static_cast<double>(workers) / static_cast<double>(budget)),
        progress_(std::move(progress)),
        bytes_(std::move(bytes)) {}

  void join() override {}
  void exchange(const StepReport& report) override {
    samples_ += report.samples;
    if (report.loss) loss_ += (*report.loss - loss_) * kNewest;
  }
  Agreement finish() override { return Agreement::kAgreed; }
  double progress() const override {
    return progress_ ? progress_() : share_ * static_cast<double>(samples_);
  }
  double network_loss() const override { return loss_; }
  SessionStatus status() const override {
    SessionStatus status;
    status.state = stencil::WorkerState::kTraining;
    if (bytes_) status.counters["bytes_sent"] = bytes_();
    return status;
  }

 private:
  static constexpr double kNewest = 0.02;
  double share_;
  std::function<double()> progress_;
  std::function<std::uint64_t()> bytes_;
  std::uint64_t samples_ = 0;
  double loss_ = 0;
};

/// For workers that each use their share of the budget, unless `progress` is given. Both as above.
inline MakeExchange make_counted(const Place& place, std::function<std::uint64_t()> bytes = {},
                                 std::function<double()> progress = {}) {
  return [place, bytes = std::move(bytes), progress = std::move(progress)](ModelAdapter&,
                                                                           const SessionOptions&) {
    return std::make_unique<CountedExchange>(place.workers, place.budget, progress, bytes);
  };
}

}  // namespace fast::compare
