#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fast {

/// Learning rate over network-wide progress (0 .. 1, the share of the sample budget used by all
/// workers together), so that fast and slow workers follow the same schedule. Immutable value.
///   constant | cosine | step:FACTOR@P1,P2,...  (at each progress P the rate is multiplied)
class Schedule {
 public:
  /// `warmup`: share of the run over which the rate rises linearly from 0. Throws ConfigError.
  static Schedule parse(std::string_view spec, double base_rate, double warmup);
  [[nodiscard]] double rate(double progress) const;

 private:
  enum class Kind { kConstant, kCosine, kStep };
  Kind kind_ = Kind::kConstant;
  double base_ = 0, warmup_ = 0, factor_ = 1;
  std::vector<double> steps_;
};

}  // namespace fast
