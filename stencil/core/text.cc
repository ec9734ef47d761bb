#include "stencil/core/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "stencil/core/error.h"

namespace stencil {
namespace {

/// Levenshtein's edit distance, in which two neighbouring letters that changed places count once
/// too (optimal string alignment), three rows of its table at a time.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, above(b.size() + 1), row(b.size() + 1);
  std::iota(above.begin(), above.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j < row.size(); ++j) {
      const std::size_t change = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({change, above[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = std::exchange(above, row);
  }
  return above.back();
}

/// Of two that are as near, the one of the same length is more likely meant.
std::size_t likeness(std::string_view word, std::string_view candidate) {
  return 2 * edit_distance(word, candidate) + (word.size() == candidate.size() ? 0 : 1);
}

}  // namespace

std::string hex(std::uint64_t value) {
  std::array<char, 17> text{};
  std::to_chars(text.data(), text.data() + text.size(), value, 16);
  return text.data();
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kShown = 80;
  std::string result = "'";
  for (const char c : text.substr(0, kShown)) result += (c >= ' ' && c <= '~') ? c : '?';
  return result + (text.size() > kShown ? "...'" : "'");
}

std::string listed(std::span<const std::string_view> words) {
  std::string result;
  for (const std::string_view word : words) {
    if (!result.empty()) result += ", ";
    result += word;
  }
  return result;
}

std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates) {
  std::size_t least = 2 * std::max<std::size_t>(2, word.size() / 3) + 2;
  std::string_view found;
  for (const std::string_view candidate : candidates) {
    const std::size_t distance = likeness(word, candidate);
    if (distance >= least) continue;
    least = distance;
    found = candidate;
  }
  return found;
}

std::string suggestion(std::string_view word, std::span<const std::string_view> candidates) {
  const std::string_view near = nearest(word, candidates);
  return near.empty() ? "" : " (did you mean " + std::string(near) + "?)";
}

void check_choice(std::string_view kind, std::string_view word,
                  std::span<const std::string_view> candidates) {
  if (std::ranges::find(candidates, word) != candidates.end()) return;
  throw ConfigError(
      std::string(kind) + " " + in_quotes(word) + " is unknown" + suggestion(word, candidates),
      "use one of " + listed(candidates));
}

}  // namespace stencil
