#include "stencil/core/data_rate.h"

#include <algorithm>
#include <array>
#include <string>

#include "stencil/core/byte_size.h"

namespace stencil {
namespace {

constexpr double kDay = 24 * 3600;

struct Period {
  std::string_view name;
  double seconds;
};
constexpr std::array<Period, 4> kPeriods{
    {{"hour", 3600}, {"day", kDay}, {"week", 7 * kDay}, {"month", 30 * kDay}}};

/// Where `text` ends so, removes that from it.
bool strip(std::string_view& text, std::string_view end) {
  if (!text.ends_with(end)) return false;
  text.remove_suffix(end.size());
  return true;
}

}  // namespace

std::optional<double> parse_rate(std::string_view text) {
  if (text == "0") return 0;
  if (!strip(text, "/s")) return std::nullopt;
  const bool bits = strip(text, "bit");
  // "2M" of "2Mbit" is no number of bytes, "2MB" is one, of the same power of 1000.
  const std::optional<std::uint64_t> amount =
      bits ? parse_bytes(std::string(text) + "B") : parse_bytes(text);
  if (!amount) return std::nullopt;
  const double rate = static_cast<double>(*amount) / (bits ? 8 : 1);
  return rate >= 1 ? std::optional(rate) : std::nullopt;
}

std::optional<DataAllowance> parse_allowance(std::string_view text) {
  if (text == "0") return DataAllowance{};
  const auto slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto* const period = std::ranges::find(kPeriods, text.substr(slash + 1), &Period::name);
  const std::optional<std::uint64_t> bytes = parse_bytes(text.substr(0, slash));
  if (period == kPeriods.end() || !bytes || *bytes == 0) return std::nullopt;
  return DataAllowance{*bytes, period->seconds};
}

}  // namespace stencil
