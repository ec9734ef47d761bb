#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace fast {

/// Says at once what goes wrong in workers: the errors in the logs that they write to stderr
/// (fast/train/log.h), as "worker 2: TEXT". Their other lines are in their log files. One thread.
class ErrorLines {
 public:
  using Say = std::function<void(const std::string& line)>;
  /// A line that is longer is passed over.
  static constexpr std::size_t kLongest = 64 * 1024;

  ErrorLines(int workers, Say say)
      : say_(std::move(say)), pending_(static_cast<std::size_t>(workers)) {}

  /// Text of one worker, as it came. An empty text ends its last line.
  void add(int rank, std::string_view text);

 private:
  Say say_;
  std::vector<std::string> pending_;  ///< the beginning of a line, by rank
};

}  // namespace fast
