#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "stencil/engine/config.h"

namespace fast {

/// Notices where averages come about far less often than was asked for, over thin links or with
/// neighbours that answer late: training goes on as if nothing were wrong and ends less accurate.
/// Speaks once. One thread.
class SweepWatch {
 public:
  /// How many steps together are judged.
  static constexpr std::uint64_t kSteps = 200;

  explicit SweepWatch(const stencil::EngineConfig& config);

  /// `steps` made and `sweeps` completed until now, `reached`: by who has neighbours to average
  /// with. Returns sweeps per step where those of the last kSteps were less than half of what was
  /// asked for, with neighbours there all the while.
  [[nodiscard]] std::optional<double> look(std::uint64_t steps, std::uint64_t sweeps, bool reached);
  /// What `rate` means and what helps, for the log.
  [[nodiscard]] std::string advice(double rate) const;

 private:
  stencil::Mode mode_;
  bool thin_;     ///< offers take less than a byte a value
  double asked_;  ///< per step; 0: never too few
  bool watching_ = false, spoken_ = false;
  std::uint64_t steps_ = 0, sweeps_ = 0;  ///< where those that are judged began
};

}  // namespace fast
