#pragma once

#include <map>
#include <string>

#include "bench/compare/cell.h"
#include "bench/compare/split.h"

namespace fast::compare {

/// Estimates how long cells take. Measures a training step of each model. Not thread-safe.
class Estimate {
 public:
  /// `speak`: say on stderr what is being measured.
  Estimate(DataPlaces places, bool speak) : places_(std::move(places)), speak_(speak) {}

  /// Seconds of a cell, evaluation included, when it runs alone on a core (virtual) or on this
  /// machine (the others).
  [[nodiscard]] double seconds(const Cell& cell);

 private:
  struct Known {
    double examples = 0, model_bytes = 0, step_seconds = 0;
  };
  const Known& look_up(const Cell& cell);

  DataPlaces places_;
  bool speak_;
  std::map<std::string, Known> known_;
};

/// Seconds of one training step of `cell`'s model, alone on one core: the median of several.
[[nodiscard]] double measure_step(const Cell& cell, const Split& split);

}  // namespace fast::compare
