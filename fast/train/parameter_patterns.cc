#include "fast/train/parameter_patterns.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "fast/errors.h"
#include "stencil/core/text.h"

namespace fast {
namespace {

constexpr std::size_t kShown = 12;  ///< names in a message

}  // namespace

std::vector<std::string> patterns_in(std::string_view list, std::string_view option) {
  std::vector<std::string> patterns;
  for (std::size_t begin = 0; !list.empty() && begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    patterns.emplace_back(list.substr(begin, end - begin));
    if (patterns.back().empty()) {
      throw ConfigError(fmt::format("{} {} has an empty pattern", option, list),
                        "name parameters, as in 'blocks.*.bias,fc.*'");
    }
    begin = end + 1;
  }
  return patterns;
}

std::vector<RateOf> rates_in(std::string_view list) {
  std::vector<RateOf> rates;
  for (const std::string& one : patterns_in(list, "--rate-of")) {
    const std::size_t equals = one.rfind('=');
    RateOf rate{.pattern = one.substr(0, equals), .factor = 0};
    if (equals != std::string::npos) {
      const char* const end = one.data() + one.size();
      const auto [next, error] = std::from_chars(one.data() + equals + 1, end, rate.factor);
      if (error != std::errc{} || next != end) rate.factor = 0;
    }
    if (rate.pattern.empty() || !std::isfinite(rate.factor) || rate.factor <= 0) {
      throw ConfigError(
          "--rate-of " + stencil::in_quotes(one) + " is no pattern with a factor above 0",
          "write PATTERN=FACTOR, as in 'fc.*=0.1'; --freeze keeps parameters as they are");
    }
    rates.push_back(std::move(rate));
  }
  return rates;
}

bool fits(const std::string& pattern, const std::string& name) {
  return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

void check_fits(std::string_view option, const std::string& pattern,
                std::span<const std::string> names) {
  if (std::ranges::any_of(names, [&](const std::string& name) { return fits(pattern, name); })) {
    return;
  }
  throw ConfigError(
      fmt::format("{} {} fits no parameter of the model", option, stencil::in_quotes(pattern)),
      fmt::format("its parameters are {}{}",
                  fmt::join(names.first(std::min(names.size(), kShown)), ", "),
                  names.size() > kShown ? ", .." : ""));
}

}  // namespace fast
