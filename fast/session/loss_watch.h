#pragma once

#include <atomic>
#include <string>

namespace fast {

/// Notices training that has come apart while all its numbers are finite: the loss has grown a
/// thousandfold since the first steps.
///
/// add(): training thread; grown(): any thread.
class LossWatch {
 public:
  /// Leaves out a loss that is not finite, for example of a step that was skipped for an overflow.
  void add(double loss);

  /// What has happened, for people; empty where it has not. A loss that is not above zero at first
  /// cannot be judged.
  [[nodiscard]] std::string grown() const;

 private:
  int count_ = 0;
  std::atomic<double> first_{0};   ///< mean of the first steps; 0 until it is known
  std::atomic<double> recent_{0};  ///< decayed mean
  double sum_ = 0;                 ///< of the first steps
};

}  // namespace fast
