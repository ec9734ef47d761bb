#include "stencil/core/array_list.h"

#include <xxhash.h>

#include <algorithm>

namespace stencil {

std::string ArrayList::marks() const {
  std::string out;
  for (std::size_t i = 0; i < std::min(arrays_.size(), kMostMarks); ++i) {
    const auto mark = XXH64(arrays_[i].data(), arrays_[i].size(), 0);
    out.push_back(static_cast<char>(mark & 0xff));
    out.push_back(static_cast<char>(mark >> 8 & 0xff));
  }
  return out;
}

std::string ArrayList::first_difference(std::string_view theirs) const {
  const std::string ours = marks();
  const auto [mine, other] = std::ranges::mismatch(ours, theirs);
  const auto place = static_cast<std::size_t>(mine - ours.begin()) / 2;
  if (mine == ours.end() && other == theirs.end()) return {};
  if (place == ours.size() / 2) {
    return "theirs has arrays after the last of the " + std::to_string(arrays_.size()) + " here";
  }
  return "the first array that differs is number " + std::to_string(place + 1) + " of " +
         std::to_string(arrays_.size()) + " here, " + arrays_[place];
}

}  // namespace stencil
