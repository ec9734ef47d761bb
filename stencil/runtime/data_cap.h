#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "stencil/core/data_rate.h"
#include "stencil/core/types.h"

namespace stencil {

/// What is used of an allowance. A checkpoint keeps it.
struct DataUsed {
  std::uint64_t bytes = 0;  ///< sent and received in this period
  double seconds = 0;       ///< of this period
};

/// How much of an allowance of data is used, and how often models should be averaged for the rest
/// to last until the period's end. A period is of the worker's own monotonic time: what it is off
/// or asleep does not count. Pure: the time is told.
class DataCap {
 public:
  explicit DataCap(DataAllowance allowance = {}, DataUsed used = {})
      : allowance_(allowance), used_(used) {}

  [[nodiscard]] bool caps() const { return allowance_.bytes > 0; }
  /// It is `now`, and so many bytes have been sent and received since this worker began.
  void advance(TimePoint now, std::uint64_t bytes) {
    if (now_ != TimePoint{}) {
      used_.bytes += bytes - seen_;
      used_.seconds += std::chrono::duration<double>(now - now_).count();
    }
    now_ = now;
    seen_ = bytes;
    if (caps() && used_.seconds >= allowance_.seconds) used_ = {};
  }
  /// Whether, with so many `bytes`, a hundredth of the allowance is used since advance().
  [[nodiscard]] bool much_since(std::uint64_t bytes) const {
    return caps() && bytes - seen_ >= allowance_.bytes / 100;
  }
  [[nodiscard]] const DataUsed& used() const { return used_; }
  /// By how much sweeps are to become rarer: 1 while no more of the allowance is used than of its
  /// period, and 0 where a tenth of the allowance more is.
  [[nodiscard]] double pace() const {
    return caps() ? std::clamp(1 - ahead() / kFarAhead, 0.0, 1.0) : 1;
  }
  /// Whether to exchange nothing for now: all is used, or so far ahead is this worker. One that
  /// rests does so until it is a little less ahead.
  [[nodiscard]] bool must_rest(bool rests) const {
    if (!caps()) return false;
    return used_.bytes >= allowance_.bytes || ahead() >= (rests ? kEndsRest : kFarAhead);
  }

 private:
  static constexpr double kFarAhead = 0.1, kEndsRest = 0.09;  ///< of the allowance

  /// The share used of the allowance, less that of the period.
  [[nodiscard]] double ahead() const {
    return static_cast<double>(used_.bytes) / static_cast<double>(allowance_.bytes) -
           used_.seconds / allowance_.seconds;
  }

  DataAllowance allowance_;
  DataUsed used_;
  TimePoint now_{};
  std::uint64_t seen_ = 0;  ///< bytes as of now_
};

}  // namespace stencil
