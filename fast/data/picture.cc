#include "fast/data/picture.h"

#include <algorithm>
#include <cmath>

namespace fast {
namespace {

constexpr int kColours = 3;

/// What one pixel of the smaller or larger row is made of.
struct Part {
  int first = 0;
  std::vector<float> weights{};  ///< of the pixels from `first` on; their sum is 1
};

std::vector<Part> parts(int from, int to) {
  std::vector<Part> all(static_cast<std::size_t>(to));
  const double scale = static_cast<double>(from) / to, reach = std::max(1.0, scale);
  for (int i = 0; i < to; ++i) {
    Part& part = all[static_cast<std::size_t>(i)];
    const double centre = (i + 0.5) * scale;
    part.first = std::max(0, static_cast<int>(centre - reach + 0.5));
    const int end = std::min(from, static_cast<int>(centre + reach + 0.5));
    double sum = 0;
    for (int at = part.first; at < end; ++at) {
      const double weight = std::max(0.0, 1 - std::fabs((at + 0.5 - centre) / reach));
      part.weights.push_back(static_cast<float>(weight));
      sum += weight;
    }
    for (float& weight : part.weights) weight = static_cast<float>(weight / sum);
  }
  return all;
}

}  // namespace

Picture resized(const Picture& picture, int width, int height) {
  if (picture.width == width && picture.height == height) return picture;
  const auto columns = parts(picture.width, width), rows = parts(picture.height, height);
  const auto row_of = [](int w) { return static_cast<std::size_t>(w) * kColours; };
  std::vector<float> narrow(row_of(width) * static_cast<std::size_t>(picture.height));
  for (int y = 0; y < picture.height; ++y) {
    const std::uint8_t* const in = picture.rgb.data() + row_of(picture.width) * y;
    float* out = narrow.data() + row_of(width) * y;
    for (const Part& part : columns) {
      for (int c = 0; c < kColours; ++c) {
        float sum = 0;
        const std::uint8_t* from = in + row_of(part.first) + c;
        for (const float weight : part.weights) {
          sum += weight * static_cast<float>(*from);
          from += kColours;
        }
        *out++ = sum;
      }
    }
  }
  Picture out{width, height, std::vector<std::uint8_t>(row_of(width) * height)};
  std::vector<float> sums(row_of(width));
  for (int y = 0; y < height; ++y) {
    const Part& part = rows[static_cast<std::size_t>(y)];
    std::ranges::fill(sums, 0.0F);
    const float* from = narrow.data() + row_of(width) * part.first;
    for (const float weight : part.weights) {
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += weight * *from++;
    }
    std::uint8_t* const to = out.rgb.data() + row_of(width) * y;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      to[i] = static_cast<std::uint8_t>(std::clamp(sums[i] + 0.5F, 0.0F, 255.0F));
    }
  }
  return out;
}

void write_planes(const Picture& picture, bool grey, std::span<std::uint8_t> out) {
  const std::size_t pixels = static_cast<std::size_t>(picture.width) * picture.height;
  const std::uint8_t* in = picture.rgb.data();
  for (std::size_t i = 0; i < pixels; ++i, in += kColours) {
    if (grey) {
      out[i] = static_cast<std::uint8_t>((299 * in[0] + 587 * in[1] + 114 * in[2] + 500) / 1000);
    } else {
      for (std::size_t c = 0; c < kColours; ++c) out[c * pixels + i] = in[c];
    }
  }
}

}  // namespace fast
