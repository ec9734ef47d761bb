#pragma once

#include <filesystem>
#include <string>

#include "fast/run/run_folder.h"

namespace fast {

/// Why a worker that began at `begun` found nobody to agree with, for people, where its run folder
/// shows it: other workers of the run had saved models before that they had agreed on. "" where
/// it does not, as where the others' folders are on machines of their own.
[[nodiscard]] std::string too_late(const RunFolder& folder, int workers, int self,
                                   const std::string& run_id,
                                   std::filesystem::file_time_type begun);

}  // namespace fast
