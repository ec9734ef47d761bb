#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "fast/data/dataset.h"
#include "fast/data/loader.h"

namespace fast {

/// "of 3 of the 10 classes its shard has no example: 2, 5, 7", for people; nothing where it has of
/// all, or there are no classes.
[[nodiscard]] std::optional<std::string> lacking_classes(const Dataset& data,
                                                         std::span<const std::uint32_t> shard);

/// That a loader leaves out examples, once, with the first of them; nothing where it does not, or
/// this was said. `told` is of the caller, false at first.
[[nodiscard]] std::optional<std::string> left_out_examples(const TrainLoader& loader, bool& told);

}  // namespace fast
