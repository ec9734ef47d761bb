#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "bench/compare/report/table.h"

namespace fast::compare {

/// Information about a comparison, shown with its figures.
struct Circumstances {
  std::string name;      ///< of the comparison
  std::string question;  ///< Spec::question
  std::string command;   ///< as it was typed
  std::string tuned_by;  ///< Spec::tuned_by
};

/// Writes report.html (self-contained), results.json, results.csv and table.md into `folder`.
void write_comparison(const std::vector<Finished>& finished, const Circumstances& circumstances,
                      const std::filesystem::path& folder);

}  // namespace fast::compare
