#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "fast/options/session_options.h"
#include "fast/session/status.h"

namespace fast {

class ModelAdapter;

/// What one local step did, for network-wide progress and loss.
struct StepReport {
  std::uint64_t samples = 0;
  std::optional<double> loss{};  ///< nothing: it is not known, and shown nowhere
};

/// The worker's own loss or parameters became NaN or infinite.
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

/// Exchange::progress() from which on the budget is used: sums of shares round.
inline constexpr double kWholeRun = 1 - 1e-9;

/// How a worker's part in the network ended.
enum class Agreement {
  kAgreed,    ///< its model is near enough to its neighbours', or it is the only worker
  kAlone,     ///< no neighbour was left, or ever present, to agree with
  kDeadline,  ///< the deadline passed first, or the user wanted to stop
  kPaused,    ///< it leaves for a while: see SessionOptions::pause
};
/// "agreed", "alone", "deadline", "paused".
[[nodiscard]] std::string_view name(Agreement agreement);

/// What workers decide together, without a collective. Training thread.
class Decisions {
 public:
  virtual ~Decisions() = default;
  /// See Session::mean(), stop_all(), done().
  virtual double mean(std::string_view name, std::optional<double> value = {}) = 0;
  virtual void stop_all(std::string_view reason) = 0;
  [[nodiscard]] virtual bool done() const = 0;
};

/// How a training loop exchanges with other workers. The product's only implementation is Session;
/// bench/compare adds others, so that nothing else differs between the runs it compares. All
/// methods belong to the training thread, except status().
class Exchange {
 public:
  virtual ~Exchange() = default;

  /// Waits until this worker may begin.
  virtual void join() = 0;
  /// The step boundary.
  virtual void exchange(const StepReport& report) = 0;
  /// Ends training: the workers' models come to agree, where they can.
  virtual Agreement finish() = 0;

  /// Share of the budget used by all workers together; training is over at 1.
  [[nodiscard]] virtual double progress() const = 0;
  /// Decayed mean of the loss over all workers, as this worker knows it; NaN where none is known.
  [[nodiscard]] virtual double network_loss() const = 0;
  /// Null: its workers decide nothing together.
  [[nodiscard]] virtual Decisions* decisions() { return nullptr; }
  /// A recent picture of the exchange.
  [[nodiscard]] virtual SessionStatus status() const = 0;
};

/// Makes the exchange of a worker's run. Called when its run folder and log can be written.
using MakeExchange =
    std::function<std::unique_ptr<Exchange>(ModelAdapter& adapter, SessionOptions options)>;

}  // namespace fast
