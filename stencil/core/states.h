#pragma once

#include <cstdint>
#include <string_view>

namespace stencil {

/// The phase of a worker's run. It travels in each message header.
enum class WorkerState : std::uint8_t { kJoining, kTraining, kSettling, kSettled, kFrozen };
[[nodiscard]] std::string_view name(WorkerState state);  ///< "joining", ..

/// The state of the connection to one neighbour.
enum class LinkState : std::uint8_t { kConnecting, kUp, kSuspect, kGone, kLeft, kRefused };
[[nodiscard]] std::string_view name(LinkState state);  ///< "connecting", ..

}  // namespace stencil
