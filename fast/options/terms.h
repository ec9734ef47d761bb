#pragma once

#include <string>

#include "fast/options/session_options.h"
#include "stencil/core/layout.h"
#include "stencil/core/terms.h"
#include "stencil/core/topology.h"

namespace fast {

/// The name of the one that may grow when a run is resumed by all workers together: its length.
inline constexpr char kBudgetTerm[] = "budget";

/// A run's length, read from the value of that term: "4000 samples", "2.5 epochs". Value type.
struct RunLength {
  explicit RunLength(const std::string& term);
  /// Whether it is more of the same unit, where both have an end.
  [[nodiscard]] bool is_longer_than(const RunLength& other) const;
  [[nodiscard]] bool in_samples() const;

  double amount = 0;  ///< 0: no end
  std::string unit;
};

/// The terms that this worker's run shares with its neighbours: all of them; and those for which a
/// Hello has no field.
[[nodiscard]] stencil::Terms make_terms(const SessionOptions& options,
                                        const stencil::Topology& topology,
                                        const stencil::Layout& layout);
[[nodiscard]] stencil::Terms more_terms(const SessionOptions& options);

}  // namespace fast
