#pragma once

#include <string>
#include <vector>

#include "fast/run/run_records.h"
#include "fast/run/summary.h"

namespace fast {

/// An option that differs from its default.
struct Setting {
  std::string name, value, usual;  ///< `usual`: the default; "" where there is none
};

/// How a run was configured.
struct Configuration {
  std::vector<Setting> settings{};
  std::string file{};  ///< all options as a file, shown verbatim; may be empty
};

/// report.html: one page that needs no network and no other file.
[[nodiscard]] std::string render_page(const RunRecords& records, const Summary& summary,
                                      const Configuration& config);

/// The data of the page as JSON for a <script> element: it holds no '<'.
[[nodiscard]] std::string page_data(const RunRecords& records, const Summary& summary,
                                    const Configuration& config);

}  // namespace fast
