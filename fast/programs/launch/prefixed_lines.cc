#include "fast/programs/launch/prefixed_lines.h"

#include <fmt/format.h>

#include <ostream>

namespace fast {

void PrefixedLines::add(int rank, std::string_view text) {
  std::string& line = pending_[static_cast<std::size_t>(rank)];
  std::string whole;
  const auto end_line = [&] {
    // "\r\n" is one end of a line: the carriage return is still there.
    if (line.ends_with('\r')) line.pop_back();
    whole += fmt::format("[{}] {}\n", rank, line);
    line.clear();
  };
  for (const char c : text) {
    if (c == '\n') {
      end_line();
      continue;
    }
    if (line == "\r") line.clear();  // a progress bar begins with it
    if (line.ends_with('\r') || line.size() >= kLongest) end_line();
    line += c;
  }
  if (text.empty() && !line.empty()) end_line();
  if (!whole.empty()) out_ << whole << std::flush;
}

}  // namespace fast
