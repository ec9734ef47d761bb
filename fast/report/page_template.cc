#include "fast/report/page_template.h"

namespace fast {

std::string html_escaped(std::string_view text) {
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

std::string script_safe(std::string_view json) {
  std::string safe;
  safe.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string filled(std::string_view page,
                   const std::vector<std::pair<std::string_view, std::string>>& parts) {
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

}  // namespace fast
