#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "bench/compare/condition.h"
#include "bench/compare/strategy.h"

namespace fast::compare {

/// The kind of time in which a cell's seconds are measured.
enum class TimeKind {
  kReal,     ///< real processes on this machine, its clock
  kVirtual,  ///< real gradients, but a modelled clock: each worker on a core of its own
  kStandIn,  ///< real processes and links, but steps that wait instead of computing: no accuracy
};

/// The training job, the same for all strategies of a comparison.
struct Job {
  std::string model = "resnet8";
  std::string data = "synthetic";  ///< "cifar10" is found by --cifar10 DIR
  std::size_t examples = 0;        ///< number of training examples used; 0: all
  std::size_t validation = 0;      ///< how many of them are held out
  /// Further training examples, beyond `examples`, on which the mean model is evaluated at the end,
  /// as on the test set; curves and tuning do not use them. More examples mean less chance in the
  /// result. Virtual time only. They do not determine a cell, since learning does not depend on
  /// them.
  std::size_t unseen = 0;
  double epochs = 5;  ///< passes over the remaining examples, by all workers together
  int batch = 32;
  std::string optimizer = "sgd";
  double momentum = 0.9, weight_decay = 5e-4;
  bool nesterov = true;
  std::string schedule = "cosine";
  double warmup = 0.15;
};

[[nodiscard]] std::string_view name(TimeKind kind);
[[nodiscard]] std::optional<TimeKind> parse_time_kind(std::string_view text);

/// Measured times; not used in real time. A stand-in needs only the time of a step.
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
  bool tuning = false;  ///< evaluated on the held-out examples; the test set is not read

  [[nodiscard]] int workers() const;
  /// Samples over all workers, for this number of training examples.
  [[nodiscard]] std::uint64_t budget(std::size_t examples) const;
};

/// Canonical JSON of what determines the cell; its hash is part of its name.
[[nodiscard]] std::string to_json(const Cell& cell);
[[nodiscard]] std::string hash(const Cell& cell);
/// "stencil-async torus:2x2 uniform, seed 1".
[[nodiscard]] std::string title(const Cell& cell);

/// Parses a cell that another process has written.
[[nodiscard]] Cell cell_from_json(const std::string& text);

}  // namespace fast::compare
