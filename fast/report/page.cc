#include "fast/report/page.h"

#include "fast/report/embedded.h"
#include "fast/report/page_template.h"
#include "fast/report/verdict.h"

namespace fast {

std::string render_page(const RunRecords& records, const Summary& summary,
                        const Configuration& config) {
  return filled(embedded::kReportHtml, {{"TITLE", html_escaped(title_of(summary))},
                                        {"CSS", std::string(embedded::kReportCss)},
                                        {"CHART", std::string(embedded::kChartJs)},
                                        {"COMMON", std::string(embedded::kCommonJs)},
                                        {"JS", std::string(embedded::kReportJs)},
                                        {"DATA", page_data(records, summary, config)}});
}

}  // namespace fast
