#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "stencil/core/option_field.h"
#include "stencil/runtime/pump_status.h"

namespace fast {

/// Notices neighbours whom greetings reach and models do not: a path that drops large packets
/// without a word, as tunnels and VPNs do whose packets are smaller than an interface believes. Its
/// links come up, stand still as soon as a bucket is sent, and are made anew, for ever. Reports
/// each neighbour once. One thread.
class PathWatch {
 public:
  /// A link that has come up so often, over so long, without anything of a model.
  static constexpr int kUps = 2;
  static constexpr stencil::Duration kLong = std::chrono::seconds(20);
  /// Of ours since it first came up: more than greetings are.
  static constexpr std::uint64_t kBytes = 16 * 1024;

  /// The rank of a neighbour of which that is so, for the first time.
  [[nodiscard]] std::optional<stencil::Rank> look(
      stencil::TimePoint now, const std::vector<stencil::NeighbourStatus>& neighbours);
  /// A log line that names cause and remedies.
  [[nodiscard]] static std::string advice(stencil::Rank rank, stencil::OptionNaming naming);

 private:
  struct Path {
    bool up = false, told = false;
    int ups = 0;
    stencil::TimePoint moved{}, since{};
    std::uint64_t sent = 0;  ///< at `since`
  };
  std::map<stencil::Rank, Path> paths_;
};

}  // namespace fast
