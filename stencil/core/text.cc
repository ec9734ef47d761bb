#include "stencil/core/text.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "stencil/core/error.h"

namespace stencil {
namespace {

/// Levenshtein's edit distance, one row of its table at a time.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 1; j < row.size(); ++j) {
      const std::size_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({change, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

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
  std::size_t least = std::max<std::size_t>(2, word.size() / 3) + 1;
  std::string_view found;
  for (const std::string_view candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
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
