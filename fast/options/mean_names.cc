#include "fast/options/mean_names.h"

#include <algorithm>
#include <cstddef>

#include "fast/errors.h"
#include "stencil/core/text.h"

namespace fast {
namespace {

constexpr std::size_t kMost = 64;

}  // namespace

std::vector<std::string> mean_names(std::string_view list, const std::string& option) {
  std::vector<std::string> names;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    names.emplace_back(list.substr(0, end));
    list.remove_prefix(end);
    if (list.empty()) break;
    list.remove_prefix(1);
    if (list.empty()) names.emplace_back();
  }
  std::ranges::sort(names);
  const auto refuse = [&](const std::string& what) {
    throw ConfigError(option + " " + what, "give a list such as accuracy,val_loss");
  };
  if (names.size() > kMost) refuse("has more than " + std::to_string(kMost) + " names");
  if (!names.empty() && names.front().empty()) refuse("has an empty name");
  if (const auto twice = std::ranges::adjacent_find(names); twice != names.end()) {
    refuse("has " + stencil::in_quotes(*twice) + " twice");
  }
  return names;
}

}  // namespace fast
