#pragma once

#include <string>
#include <vector>

#include "fast/run/run_folder.h"

namespace fast {

/// The other workers of the run whose models in this folder say that they ended in agreement. Where
/// the others' folders are on machines of their own, nobody.
[[nodiscard]] std::vector<int> ended_in_agreement(const RunFolder& folder, int workers, int self,
                                                  const std::string& run_id);

/// Why a worker found nobody to agree with, for people, where `before` had ended in agreement
/// before it began; "" where that is nobody. No clock is asked: who had ended is looked up when the
/// worker begins.
[[nodiscard]] std::string too_late(const RunFolder& folder, const std::vector<int>& before);

}  // namespace fast
