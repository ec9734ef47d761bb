#pragma once

#include <cstdint>
#include <string_view>

namespace stencil {

/// Where a worker stands; travels in each header.
enum class WorkerState : std::uint8_t { kJoining, kTraining, kSettling, kSettled, kFrozen };
[[nodiscard]] std::string_view name(WorkerState state);  ///< "joining", ..

/// How a neighbour's connection stands.
enum class LinkState : std::uint8_t { kConnecting, kUp, kSuspect, kGone, kLeft, kRefused };
[[nodiscard]] std::string_view name(LinkState state);  ///< "connecting", ..

}  // namespace stencil
