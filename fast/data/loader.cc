#include "fast/data/loader.h"

#include <algorithm>
#include <string>
#include <utility>

#include "fast/errors.h"

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

Scale scale_of(const Dataset& data, int channel) {
  const auto c = static_cast<std::size_t>(channel);
  const float factor = 1.0F / (255.0F * data.deviation[c]);
  return {factor, -data.mean[c] / data.deviation[c]};
}

void normalise(const std::uint8_t* in, float* out, std::size_t count, Scale scale) {
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = static_cast<float>(in[i]) * scale.factor + scale.offset;
  }
}

void copy_plain(const Dataset& data, const ImageShape& shape, const std::uint8_t* in, float* out) {
  const std::size_t plane = static_cast<std::size_t>(shape.height) * shape.width;
  for (int c = 0; c < shape.channels; ++c, in += plane, out += plane) {
    normalise(in, out, plane, scale_of(data, c));
  }
}

void copy_cropped(const Dataset& data, const ImageSet& set, std::size_t index, const Crop& crop,
                  float* out) {
  const int height = set.shape.height, width = set.shape.width;
  const std::size_t plane = static_cast<std::size_t>(height) * width;
  const std::uint8_t* in = set.image(index).data();
  const int first = std::max(0, -crop.dx), last = std::min(width, width - crop.dx);
  for (int c = 0; c < set.shape.channels; ++c, in += plane) {
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

}  // namespace

TrainLoader::TrainLoader(const Dataset& data, std::vector<std::uint32_t> shard, std::size_t batch,
                         std::uint64_t seed)
    : data_(data), shard_(std::move(shard)), batch_(batch), random_(seed) {
  if (shard_.empty()) {
    throw DataError("a worker has no training examples",
                    "use fewer workers, more data or another partition");
  }
  if (batch_ == 0) throw ConfigError("a batch of 0 examples", "use a batch of at least 1");
  const std::uint32_t largest = *std::max_element(shard_.begin(), shard_.end());
  if (largest >= data_.train.size()) {
    throw DataError("a shard names example " + std::to_string(largest) + " of " +
                        std::to_string(data_.train.size()),
                    "partition this data set's own labels");
  }
  images_.resize(batch_ * data_.train.shape.pixels());
  labels_.resize(batch_);
  shuffle();
}

Batch TrainLoader::next() {
  return fill(data_.crop_and_flip);
}

Batch TrainLoader::next_plain() {
  return fill(false);
}

Batch TrainLoader::fill(bool augment) {
  const std::size_t pixels = data_.train.shape.pixels();
  for (std::size_t i = 0; i < batch_; ++i) {
    if (position_ == shard_.size()) shuffle();
    const std::uint32_t index = shard_[position_++];
    float* out = images_.data() + i * pixels;
    if (augment) {
      copy_cropped(data_, data_.train, index, draw_crop(random_), out);
    } else {
      copy_plain(data_, data_.train.shape, data_.train.image(index).data(), out);
    }
    labels_[i] = data_.train.labels[index];
  }
  return {images_, labels_};
}

void TrainLoader::shuffle() {
  for (std::size_t i = shard_.size(); i > 1; --i) {
    std::swap(shard_[i - 1], shard_[random_.below(i)]);
  }
  position_ = 0;
}

bool TrainLoader::resume(const State& state) {
  const auto sorted = [](std::vector<std::uint32_t> order) {
    std::ranges::sort(order);
    return order;
  };
  if (state.position > shard_.size() || sorted(state.order) != sorted(shard_)) return false;
  shard_ = state.order;
  position_ = state.position;
  random_ = stencil::Random(state.random);
  return true;
}

TestLoader::TestLoader(const Dataset& data, const ImageSet& images, std::size_t batch)
    : data_(data), set_(images), batch_(std::min(std::max<std::size_t>(batch, 1), images.size())) {
  images_.resize(batch_ * set_.shape.pixels());
  if (set_.read) bytes_.resize(images_.size());
  labels_.resize(batch_);
}

bool TestLoader::next(Batch& out) {
  if (position_ == set_.size()) {
    position_ = 0;
    return false;
  }
  const std::size_t count = std::min(batch_, set_.size() - position_);
  const std::size_t pixels = set_.shape.pixels();
  if (set_.read) set_.read(position_, std::span(bytes_).first(count * pixels));
  for (std::size_t i = 0; i < count; ++i, ++position_) {
    const std::uint8_t* const image =
        set_.read ? bytes_.data() + i * pixels : set_.image(position_).data();
    copy_plain(data_, set_.shape, image, images_.data() + i * pixels);
    labels_[i] = set_.labels[position_];
  }
  out = {std::span<const float>(images_).first(count * pixels),
         std::span<const std::int64_t>(labels_).first(count)};
  return true;
}

}  // namespace fast
