#include "fast/report/page.h"

#include <utility>
#include <vector>

#include "fast/report/embedded.h"

namespace fast {
namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

using Parts = std::vector<std::pair<std::string_view, std::string>>;

/// Replaces {{NAME}} in one pass over the template: what is put in is never looked at again, so
/// that a run id of "{{DATA}}" stays a run id.
std::string filled(std::string_view page, const Parts& parts) {
  std::string out;
  while (!page.empty()) {
    const std::size_t mark = page.find("{{");
    out += page.substr(0, mark);
    if (mark == std::string_view::npos) break;
    page.remove_prefix(mark);
    bool found = false;
    for (const auto& [name, text] : parts) {
      const std::string marker = "{{" + std::string(name) + "}}";
      if (!page.starts_with(marker)) continue;
      out += text;
      page.remove_prefix(marker.size());
      found = true;
      break;
    }
    if (!found) {
      out += page.substr(0, 2);
      page.remove_prefix(2);
    }
  }
  return out;
}

}  // namespace

std::string render_page(const Gathered& gathered, const Summary& summary, std::string_view config) {
  return filled(embedded::kReportHtml, {{"TITLE", escaped(summary.run_id)},
                                        {"CSS", std::string(embedded::kReportCss)},
                                        {"CHART", std::string(embedded::kChartJs)},
                                        {"JS", std::string(embedded::kReportJs)},
                                        {"DATA", page_data(gathered, summary, config)}});
}

}  // namespace fast
