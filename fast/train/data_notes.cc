#include "fast/train/data_notes.h"

#include <fmt/format.h>

#include <vector>

namespace fast {
namespace {

/// More are not named.
constexpr std::size_t kMostNamed = 10;

}  // namespace

std::optional<std::string> lacking_classes(const Dataset& data,
                                           std::span<const std::uint32_t> shard) {
  if (!data.spec.has_labels()) return std::nullopt;
  const std::vector<std::uint32_t> labels = data.train->labels();
  std::vector<bool> has(static_cast<std::size_t>(data.spec.classes));
  for (const std::uint32_t example : shard) has[labels[example]] = true;
  std::size_t lacking = 0;
  std::string names;
  for (std::size_t label = 0; label < has.size(); ++label) {
    if (has[label]) continue;
    if (++lacking <= kMostNamed) names += (lacking > 1 ? ", " : "") + std::to_string(label);
  }
  if (lacking == 0) return std::nullopt;
  return fmt::format("of {} of the {} classes its shard has no example: {}{}", lacking, has.size(),
                     names, lacking > kMostNamed ? " .." : "");
}

std::optional<std::string> left_out_examples(const TrainLoader& loader, bool& told) {
  const LeftOutExamples& left_out = loader.left_out();
  if (told || left_out.count == 0) return std::nullopt;
  told = true;
  return fmt::format(
      "example {} of the training set holds NaN or infinity: it is left out, and each like it is",
      left_out.first);
}

}  // namespace fast
