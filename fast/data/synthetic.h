#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fast/data/images.h"

namespace fast {

inline constexpr ImageShape kSyntheticShape{3, 16, 16, 10};

/// Ten kinds of small shapes (disk, ring, frame, triangle, plus, cross, two stripings, dots,
/// checkers) at a random place, size and tilt, lighter or darker than a shaded, noisy background
/// with stray strokes. As place and polarity vary, the classes' mean images nearly agree: a linear
/// model finds little, local filters find everything.
///
/// One seed gives the same images on every machine: randomness is integer, and floating-point
/// operations are only + - * / sqrt. Image i does not depend on the number of images; test images
/// come from a stream of their own. The classes are the same for every seed. Classes are balanced
/// in blocks of ten.
[[nodiscard]] ImageDataset make_synthetic(std::size_t train, std::size_t test, std::uint64_t seed);

/// The same with counts given as "[TRAIN[,TEST]]", each from 1 to 1,000,000; by default 8192,2048.
/// Throws ConfigError.
[[nodiscard]] ImageDataset load_synthetic(std::string_view counts, std::uint64_t seed);
/// Makes no image, but checks the counts too.
[[nodiscard]] ImageShape synthetic_shape(std::string_view counts);

}  // namespace fast
