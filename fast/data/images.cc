#include "fast/data/images.h"

#include <algorithm>
#include <string>
#include <utility>

#include "stencil/core/error.h"

namespace fast {
namespace {

constexpr int kPad = 4;

/// The shift of an image by padding and cropping: output (x, y) is input (x + dx, y + dy); pixels
/// outside are 0, the mean colour.
struct Crop {
  int dx = 0, dy = 0;  ///< -kPad .. kPad
  bool mirror = false;
};

Crop draw_crop(stencil::Random& random) {
  Crop crop;
  crop.dx = static_cast<int>(random.below(2 * kPad + 1)) - kPad;
  crop.dy = static_cast<int>(random.below(2 * kPad + 1)) - kPad;
  crop.mirror = random.below(2) == 1;
  return crop;
}

/// byte -> (byte / 255 - mean) / deviation, as one multiply-add.
struct Scale {
  float factor, offset;
};

Scale scale_of(const ImageTreatment& data, int channel) {
  const auto c = static_cast<std::size_t>(channel);
  const float factor = 1.0F / (255.0F * data.deviation[c]);
  return {factor, -data.mean[c] / data.deviation[c]};
}

void normalise(const std::uint8_t* in, float* out, std::size_t count, Scale scale) {
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = static_cast<float>(in[i]) * scale.factor + scale.offset;
  }
}

void copy_plain(const ImageTreatment& data, const ImageShape& shape, const std::uint8_t* in,
                float* out) {
  const std::size_t plane = static_cast<std::size_t>(shape.height) * shape.width;
  for (int c = 0; c < shape.channels; ++c, in += plane, out += plane) {
    normalise(in, out, plane, scale_of(data, c));
  }
}

void copy_cropped(const ImageTreatment& data, const ImageShape& shape, const std::uint8_t* in,
                  const Crop& crop, float* out) {
  const int height = shape.height, width = shape.width;
  const std::size_t plane = static_cast<std::size_t>(height) * width;
  const int first = std::max(0, -crop.dx), last = std::min(width, width - crop.dx);
  for (int c = 0; c < shape.channels; ++c, in += plane) {
    const Scale scale = scale_of(data, c);
    for (int y = 0; y < height; ++y, out += width) {
      const int from = y + crop.dy;
      if (from < 0 || from >= height || first >= last) {
        std::fill(out, out + width, 0.0F);
        continue;
      }
      std::fill(out, out + first, 0.0F);
      std::fill(out + last, out + width, 0.0F);
      normalise(in + from * width + first + crop.dx, out + first,
                static_cast<std::size_t>(last - first), scale);
      if (crop.mirror) std::reverse(out, out + width);
    }
  }
}

/// See examples_of().
class ImageExamples final : public ExampleSet {
 public:
  ImageExamples(ImageSet images, ImageTreatment treatment)
      : images_(std::move(images)), treatment_(treatment) {}

  [[nodiscard]] std::size_t size() const override { return images_.size(); }
  [[nodiscard]] std::vector<std::uint32_t> labels() const override { return images_.all_labels(); }
  [[nodiscard]] std::size_t bytes() const override {
    return images_.bytes() + from_file_.capacity();
  }

  [[nodiscard]] bool finite() const override { return true; }
  void expect(std::span<const std::uint32_t> next) const override {
    if (images_.expect) images_.expect(next);
  }
  void write(std::size_t first, std::size_t count, stencil::Random* random, const ValuesOut& inputs,
             const ValuesOut& targets) const override {
    const std::size_t pixels = images_.shape.pixels();
    float* out = std::get<std::span<float>>(inputs).data();
    std::int64_t* label = std::get<std::span<std::int64_t>>(targets).data();
    if (images_.read) {
      from_file_.resize(count * pixels);
      images_.read(first, from_file_);
    }
    for (std::size_t i = 0; i < count; ++i, out += pixels) {
      const std::uint8_t* const image =
          images_.read ? from_file_.data() + i * pixels : images_.image(first + i).data();
      if (random != nullptr && treatment_.crop_and_flip) {
        copy_cropped(treatment_, images_.shape, image, draw_crop(*random), out);
      } else {
        copy_plain(treatment_, images_.shape, image, out);
      }
      label[i] = images_.labels[first + i];
    }
  }

 private:
  ImageSet images_;
  ImageTreatment treatment_;
  mutable std::vector<std::uint8_t> from_file_;
};

}  // namespace

std::unique_ptr<ExampleSet> examples_of(ImageSet images, ImageTreatment treatment) {
  return std::make_unique<ImageExamples>(std::move(images), treatment);
}

std::span<const std::uint8_t> ImageSet::image(std::size_t i) const {
  std::size_t place = i;
  if (!kept.empty()) {
    const auto at = std::ranges::lower_bound(kept, i);
    if (at == kept.end() || *at != i) {
      throw stencil::InvariantError("image " + std::to_string(i) + " was not kept in memory");
    }
    place = static_cast<std::size_t>(at - kept.begin());
  }
  return std::span(pixels).subspan(place * shape.pixels(), shape.pixels());
}

void ImageSet::keep(std::vector<std::uint32_t> examples) {
  std::ranges::sort(examples);
  if (examples.size() == size()) return;
  std::vector<std::uint8_t> less;
  less.reserve(examples.size() * shape.pixels());
  for (const std::uint32_t example : examples) {
    const auto one = image(example);
    less.insert(less.end(), one.begin(), one.end());
  }
  pixels = std::move(less);
  kept = std::move(examples);
}

std::size_t ImageSet::bytes() const {
  return pixels.capacity() + labels.capacity() * sizeof(labels[0]) +
         kept.capacity() * sizeof(kept[0]);
}

}  // namespace fast
