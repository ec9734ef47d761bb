#pragma once

#include <filesystem>
#include <iosfwd>

#include "fast/run/summary.h"

namespace fast {

struct TableStyle {
  bool unicode = true;
  bool colour = false;
  int width = 0;  ///< columns of the terminal; longer values take several lines. 0: no end
};

/// Prints the verdict and the table at the end of a run; `folder` is the run folder.
void print_summary(std::ostream& out, const Summary& summary, const std::filesystem::path& folder,
                   TableStyle style = {});

}  // namespace fast
