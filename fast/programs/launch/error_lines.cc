#include "fast/programs/launch/error_lines.h"

#include <fmt/format.h>

namespace fast {

void ErrorLines::add(int rank, std::string_view text) {
  std::string& line = pending_[static_cast<std::size_t>(rank)];
  const auto end_line = [&] {
    const std::string mark = fmt::format(" worker {} error: ", rank);
    if (const auto at = line.find(mark); at != std::string::npos) {
      say_(fmt::format("worker {}: {}", rank, line.substr(at + mark.size())));
    }
    line.clear();
  };
  for (const char c : text) {
    if (c == '\n') {
      end_line();
    } else if (line.size() < kLongest) {
      line += c;
    }
  }
  if (text.empty()) end_line();
}

}  // namespace fast
