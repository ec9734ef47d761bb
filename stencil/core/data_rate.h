#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace stencil {

/// A rate as people write it, in bytes a second: "2Mbit/s", "250 kB/s"; kbit, Mbit and Gbit are
/// powers of 1000 bits, bytes as in parse_bytes(). "0": none, which is 0. Nothing where `text` is
/// no rate, or one below a byte a second.
[[nodiscard]] std::optional<double> parse_rate(std::string_view text);

/// So many bytes in so much time. Value type.
struct DataAllowance {
  std::uint64_t bytes = 0;  ///< 0: no bound
  double seconds = 0;       ///< of a period
};

/// An allowance as people write it: "2GB/day", "500MB/hour", "10GB/week", "30GB/month" (30 days).
/// "0": none. Nothing where `text` is no such, or one of no bytes.
[[nodiscard]] std::optional<DataAllowance> parse_allowance(std::string_view text);

}  // namespace stencil
