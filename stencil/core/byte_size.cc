#include "stencil/core/byte_size.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace stencil {
namespace {

struct Unit {
  std::string_view name;  ///< in small letters
  double bytes;
};
constexpr Unit kUnits[] = {{"", 1},     {"b", 1},         {"kb", 1e3},      {"mb", 1e6},
                           {"gb", 1e9}, {"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}};
constexpr double kMost = 1e18;

bool same(std::string_view small, std::string_view text) {
  return std::ranges::equal(small, text, [](char a, char b) {
    return a == b || (b >= 'A' && b <= 'Z' && a == b - 'A' + 'a');
  });
}

}  // namespace

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
  double amount = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, amount, std::chars_format::fixed);
  if (error != std::errc() || !(amount >= 0)) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (text.starts_with(' ')) text.remove_prefix(1);
  for (const Unit& unit : kUnits) {
    const double bytes = amount * unit.bytes;
    if (same(unit.name, text) && bytes <= kMost) return std::llround(bytes);
  }
  return std::nullopt;
}

std::string bytes_text(std::uint64_t bytes) {
  if (bytes < 1000) return std::to_string(bytes);
  const Unit& unit = bytes < 1'000'000 ? kUnits[2] : bytes < 1'000'000'000 ? kUnits[3] : kUnits[4];
  const auto tenth = static_cast<std::uint64_t>(unit.bytes) / 10;
  const std::uint64_t tenths = bytes / tenth + (bytes % tenth != 0 ? 1 : 0);
  std::string text = std::to_string(tenths / 10);
  if (tenths % 10 != 0) text += '.' + std::to_string(tenths % 10);
  return text + (unit.bytes < 1e6 ? "kB" : unit.bytes < 1e9 ? "MB" : "GB");
}

}  // namespace stencil
