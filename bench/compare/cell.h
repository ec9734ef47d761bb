#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "bench/compare/condition.h"
#include "bench/compare/strategy.h"

namespace fast::compare {

/// Which time a cell's seconds are.
enum class TimeKind {
  kReal,     ///< real processes on this machine, its clock
  kVirtual,  ///< real gradients, but a modelled clock: each worker on a core of its own
  kStandIn,  ///< real processes and links, but steps that wait instead of computing: no accuracy
};

/// What a strategy trains: the same for all strategies of a comparison.
struct Job {
  std::string model = "resnet8";
  std::string data = "synthetic";  ///< "cifar10" is found by --cifar10 DIR
  std::size_t examples = 0;        ///< use so many training examples; 0: all
  std::size_t validation = 0;      ///< of them, how many are held out
  /// So many beyond `examples`, which no curve and no tuning looks at, judge the mean model at the
  /// end as the test set does: chance in what is judged shrinks by as many. Virtual time only. Not
  /// of what determines a cell: what is learned does not know.
  std::size_t unseen = 0;
  double epochs = 5;  ///< of what is left, by all workers together
  int batch = 32;
  std::string optimizer = "sgd";
  double momentum = 0.9, weight_decay = 5e-4;
  bool nesterov = true;
  std::string schedule = "cosine";
  double warmup = 0.15;
};

[[nodiscard]] std::string_view name(TimeKind kind);
[[nodiscard]] std::optional<TimeKind> parse_time_kind(std::string_view text);

/// Measured facts; not used in real time. A stand-in needs only how long a step lasts.
struct Clockwork {
  double step_seconds = 0;  ///< of one local step on a core of its own
  double latency = 0;       ///< of a message, one way
  double rate_mbit = 8000;  ///< of a link where the condition sets none
};

/// One training run: everything that determines its result, and nothing else. Value type.
struct Cell {
  Job job;
  Condition condition;
  Strategy strategy;
  std::uint64_t seed = 1;
  TimeKind time = TimeKind::kReal;
  Clockwork clockwork;
  bool tuning = false;  ///< judged on the held-out examples; the test set stays unread

  [[nodiscard]] int workers() const;
  /// Samples over all workers, given how many training examples there are.
  [[nodiscard]] std::uint64_t budget(std::size_t examples) const;
};

/// Canonical JSON of what determines the cell; its hash names the file of its result.
[[nodiscard]] std::string to_json(const Cell& cell);
[[nodiscard]] std::string hash(const Cell& cell);
/// "stencil-async torus:2x2 uniform, seed 1".
[[nodiscard]] std::string title(const Cell& cell);

/// A cell as one process hands it to another.
[[nodiscard]] Cell cell_from_json(const std::string& text);

}  // namespace fast::compare
