#pragma once

#include <string>
#include <string_view>

#include "fast/run/run_records.h"
#include "fast/run/summary.h"

namespace fast {

/// report.html: one page that needs no network and no other file. `config` is shown verbatim.
[[nodiscard]] std::string render_page(const RunRecords& records, const Summary& summary,
                                      std::string_view config);

/// The data of the page as JSON for a <script> element: it holds no '<'.
[[nodiscard]] std::string page_data(const RunRecords& records, const Summary& summary,
                                    std::string_view config);

}  // namespace fast
