#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "stencil/engine/config.h"

namespace fast {

/// Notices when averages happen far less often than configured, over thin links or with neighbours
/// that answer late, or where steps are shorter than an exchange. Training would otherwise go on
/// unnoticed and end less accurate. Reports once. One thread.
class SweepWatch {
 public:
  /// The number of steps that are judged together.
  static constexpr std::uint64_t kSteps = 200;

  explicit SweepWatch(const stencil::EngineConfig& config);

  /// The grid has changed; so many neighbours are there now.
  void follow(const stencil::GridFigures& grid, std::size_t neighbours);

  /// `steps` and `sweeps` are those completed until `now`; `reached` says whether a neighbour is
  /// up. Returns sweeps per step where those of the last kSteps were less than half of the
  /// configured number, with neighbours up all the time.
  [[nodiscard]] std::optional<double> look(stencil::TimePoint now, std::uint64_t steps,
                                           std::uint64_t sweeps, bool reached);
  /// A log line that explains `rate` and names remedies. `exchange` is the time of one bucket's;
  /// `shared`: all neighbours are on this host and share memory.
  [[nodiscard]] std::string advice(double rate, stencil::Duration exchange, bool shared) const;

 private:
  stencil::Mode mode_;
  stencil::OptionNaming naming_;
  bool thin_;     ///< offers take less than a byte a value
  double asked_;  ///< per step; 0: never too few
  bool watching_ = false, spoken_ = false;
  std::uint64_t steps_ = 0, sweeps_ = 0;  ///< at the start of the steps being judged
  stencil::TimePoint since_{};            ///< likewise
  stencil::Duration step_{};              ///< the mean length of those judged last
};

}  // namespace fast
