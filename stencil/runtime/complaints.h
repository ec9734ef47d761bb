#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "stencil/core/types.h"

namespace stencil {

/// Log lines about what peers do wrong: one for each cause; repetitions are only counted. Each
/// neighbour, and all strangers together, have a budget of their own. So no peer can fill memory or
/// the log, or suppress the lines about another. One thread.
class Complaints {
 public:
  /// Causes remembered for one neighbour, and for all strangers together.
  static constexpr std::size_t kMost = 64;

  explicit Complaints(LogSink log) : log_(std::move(log)) {}

  void about(Rank neighbour, const std::string& cause, std::string_view text);
  void about_stranger(const std::string& cause, std::string_view text);

 private:
  void say(Rank who, const std::string& name, const std::string& cause, std::string_view text);
  LogSink log_;
  std::map<Rank, std::set<std::string>> logged_;  ///< strangers are kNoRank
};

}  // namespace stencil
