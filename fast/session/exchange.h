#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "fast/session/session_options.h"
#include "fast/session/status.h"

namespace fast {

class ModelAdapter;

/// What one local step did, for network-wide progress and loss.
struct StepReport {
  std::uint64_t samples = 0;
  double loss = 0;
};

/// The worker's own loss or parameters are no longer numbers.
class NonFiniteError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
/// No exchange with a neighbour is possible: another model, run, version or start.
class RefusedError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
/// A wait for a neighbour passed its deadline.
class DeadlineError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// How a worker's part in the network ended.
enum class Agreement {
  kAgreed,  ///< its model and its neighbours' are as near as they should be, or it is the only one
  kAlone,   ///< nobody was left, or ever there, to agree with
  kDeadline,  ///< the deadline passed before, or the user wanted to stop
};
/// "agreed", "alone", "deadline".
[[nodiscard]] std::string_view name(Agreement agreement);

/// How a training loop takes part with others. Session is the one way of the product; bench/compare
/// has others beside it, so that nothing else about a run differs. All methods belong to the
/// training thread, except endpoint() and status().
class Exchange {
 public:
  virtual ~Exchange() = default;

  /// Waits until this worker may begin.
  virtual void join() = 0;
  /// The step boundary.
  virtual void exchange(const StepReport& report) = 0;
  /// Training is over: the workers' models come to agree, where they can.
  virtual Agreement finish() = 0;

  /// Share of the budget used by all workers together; training is over at 1.
  [[nodiscard]] virtual double progress() const = 0;
  /// Decayed mean of the loss over all workers; what this worker knows of it.
  [[nodiscard]] virtual double network_loss() const = 0;
  /// Where others can dial this worker.
  [[nodiscard]] virtual std::string endpoint() const = 0;
  /// A recent picture of the exchange.
  [[nodiscard]] virtual SessionStatus status() const = 0;
};

/// Makes the exchange of a worker's run, once its run folder and log can be written to.
using MakeExchange =
    std::function<std::unique_ptr<Exchange>(ModelAdapter& adapter, SessionOptions options)>;

}  // namespace fast
