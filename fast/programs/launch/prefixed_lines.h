#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace fast {

/// Writes what several workers write, line by line, with the worker's rank before each: "[2] ...".
/// A carriage return ends a line too, so that progress bars are seen. A line is written when it is
/// whole, or longer than kLongest. One thread.
class PrefixedLines {
 public:
  static constexpr std::size_t kLongest = 64 * 1024;

  /// `out` must outlive this.
  PrefixedLines(std::ostream& out, int workers)
      : out_(out), pending_(static_cast<std::size_t>(workers)) {}

  /// Text of one worker, as it came. An empty text ends its last line.
  void add(int rank, std::string_view text);

 private:
  std::ostream& out_;
  std::vector<std::string> pending_;  ///< the beginning of a line, by rank
};

}  // namespace fast
