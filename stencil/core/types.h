#pragma once

#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

namespace stencil {

// Codecs and lengths are written byte by byte, but telemetry, exact values and hashes go as they
// lie in memory.
static_assert(std::endian::native == std::endian::little, "hosts must be little-endian");

/// A worker's place in the topology: 0 .. N-1.
using Rank = std::int32_t;
inline constexpr Rank kNoRank = -1;

/// Time is always passed in. Nothing below stencil/io reads a clock, so that the simulator can own
/// the time.
using Duration = std::chrono::nanoseconds;
using TimePoint = std::chrono::time_point<std::chrono::steady_clock, Duration>;
inline constexpr TimePoint kNever = TimePoint::max();
[[nodiscard]] constexpr Duration seconds(double s) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(s));
}

enum class LogLevel { kDebug, kInfo, kWarning, kError };

/// Receives a layer's few log lines. It may be called from the background thread and must not
/// block.
using LogSink = std::function<void(LogLevel, std::string_view)>;

}  // namespace stencil
