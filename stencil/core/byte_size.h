#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stencil {

/// A number of bytes as people write it: "64MB", "1.5 GiB", "4096"; kB, MB, GB are powers of 1000,
/// KiB, MiB, GiB of 1024, whatever the case. Nothing where `text` is none.
[[nodiscard]] std::optional<std::uint64_t> parse_bytes(std::string_view text);

/// "1.3MB", in powers of 1000 and rounded up: parse_bytes() of it is `bytes` or more.
[[nodiscard]] std::string bytes_text(std::uint64_t bytes);

}  // namespace stencil
