#pragma once

#include <filesystem>
#include <iosfwd>

#include "fast/run/summary.h"

namespace fast {

struct TableStyle {
  bool unicode = true;
  bool colour = false;
};

/// Prints the table at the end of a run; `folder` is the run folder.
void print_summary(std::ostream& out, const Summary& summary, const std::filesystem::path& folder,
                   TableStyle style = {});

}  // namespace fast
