#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace fast {

/// A picture of red, green and blue, row by row, a byte each.
struct Picture {
  int width = 0, height = 0;
  std::vector<std::uint8_t> rgb{};
};

/// Whether this build reads pictures at all.
[[nodiscard]] bool reads_pictures();
/// PNG or JPEG, as the first bytes tell. Grey, palettes, 16 bits, CMYK and YCCK are converted; what
/// is transparent stands on black. Throws DataError, naming `file`, for anything else, for a file
/// that is cut off or damaged, and for one of more than 100 million pixels.
[[nodiscard]] Picture decode_picture(std::span<const std::uint8_t> bytes,
                                     const std::filesystem::path& file);

/// The same of another size: each pixel is the mean of what it covers, weighted by a triangle
/// (bilinear where it becomes larger), as Pillow's resize() with BILINEAR.
[[nodiscard]] Picture resized(const Picture& picture, int width, int height);

/// Writes the three planes of a picture one after the other, or one of grey (ITU-R BT.601).
/// Requires room for as many bytes.
void write_planes(const Picture& picture, bool grey, std::span<std::uint8_t> out);

}  // namespace fast
