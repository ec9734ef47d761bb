#pragma once

#include <string>

#include "fast/run/summary.h"

namespace fast {

/// What was trained: "resnet8 on cifar10, torus:2x2".
[[nodiscard]] std::string title_of(const Summary& summary);

/// What to think of a run's result, in a sentence or two: "All 4 workers agree: use
/// mean.safetensors. The exchange took 10 % of training time."
[[nodiscard]] std::string verdict_of(const Summary& summary);

/// Where workers ended before they had made their share of the run: what was made of what was to
/// be, and who is short. Else empty.
[[nodiscard]] std::string shortfall_of(const Summary& summary);

}  // namespace fast
