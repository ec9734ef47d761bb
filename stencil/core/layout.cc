#include "stencil/core/layout.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <memory>
#include <new>
#include <string_view>
#include <utility>

#include "stencil/core/error.h"

namespace stencil {

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text = "[";
  for (const auto side : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(side);
  return text + "]";
}

namespace {

/// Bytes of a flat vector must be countable in a signed number of the machine's word.
constexpr int kMaxPower = std::numeric_limits<std::ptrdiff_t>::digits - 3;
constexpr std::size_t kMaxFloats = std::size_t{1} << kMaxPower;

/// 2 to the power of kMaxPower, in words.
std::string max_text() {
  return "2^" + std::to_string(kMaxPower);
}

std::size_t element_count(const ParameterSlot& slot) {
  const auto refuse = [&](const char* cause) {
    throw ConfigError(
        "parameter '" + slot.name + "' of shape " + shape_text(slot.shape) + " " + cause,
        "give sides of 0 or more whose product is under " + max_text());
  };
  std::size_t count = 1;
  bool empty = false;
  for (const auto side : slot.shape) {
    if (side < 0) refuse("has a negative side");
    empty = empty || side == 0;
  }
  if (empty) return 0;
  for (const auto side : slot.shape) {
    const auto factor = static_cast<std::uint64_t>(side);
    if (count > kMaxFloats / factor) refuse("is too large");
    count *= static_cast<std::size_t>(factor);
  }
  return count;
}

void check_names(const std::vector<ParameterSlot>& parameters) {
  std::vector<std::string_view> names;
  names.reserve(parameters.size());
  for (const auto& slot : parameters) names.push_back(slot.name);
  std::sort(names.begin(), names.end());
  const auto twin = std::adjacent_find(names.begin(), names.end());
  if (twin != names.end()) {
    throw ConfigError("two parameters are named '" + std::string(*twin) + "'",
                      "give each parameter a name of its own");
  }
}

/// xxHash64 over a canonical form: each number as 8 bytes little-endian, each text after its
/// length.
class LayoutHash {
 public:
  LayoutHash() : state_(XXH64_createState(), &XXH64_freeState) {
    if (!state_) throw std::bad_alloc();
    XXH64_reset(state_.get(), 0);
  }

  void add(std::uint64_t number) {
    std::array<unsigned char, 8> bytes;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      bytes[i] = static_cast<unsigned char>(number >> (8 * i));
    }
    XXH64_update(state_.get(), bytes.data(), bytes.size());
  }

  void add(std::string_view text) {
    add(std::uint64_t{text.size()});
    if (!text.empty()) XXH64_update(state_.get(), text.data(), text.size());
  }

  [[nodiscard]] std::uint64_t digest() const { return XXH64_digest(state_.get()); }

 private:
  std::unique_ptr<XXH64_state_t, decltype(&XXH64_freeState)> state_;
};

std::uint64_t hash_of(const std::vector<ParameterSlot>& parameters, std::size_t bucket_floats) {
  LayoutHash hash;
  hash.add(std::uint64_t{bucket_floats});
  hash.add(std::uint64_t{parameters.size()});
  for (const auto& slot : parameters) {
    hash.add(slot.name);
    hash.add(std::uint64_t{slot.shape.size()});
    for (const auto side : slot.shape) hash.add(static_cast<std::uint64_t>(side));
    if (slot.type != ElementType::kF32) hash.add(name(slot.type));
  }
  return hash.digest();
}

}  // namespace

std::size_t Layout::suitable_bucket(std::size_t floats) {
  constexpr std::size_t kEnough = 16;
  return std::clamp(std::bit_floor(floats / kEnough), kSmallestBucketFloats, kLargestBucketFloats);
}

Layout::Layout(std::vector<ParameterSlot> parameters, std::size_t bucket_floats)
    : parameters_(std::move(parameters)), bucket_floats_(bucket_floats) {
  check_names(parameters_);
  for (auto& slot : parameters_) {
    slot.offset = size_;
    slot.size = element_count(slot);
    if (slot.size > kMaxFloats - size_) {
      throw ConfigError(
          "the model is over " + max_text() + " floats at parameter '" + slot.name + "'",
          "check the shapes");
    }
    size_ += slot.size;
    rounded_ |= rounds(slot.type);
  }
  if (bucket_floats_ == 0) bucket_floats_ = suitable_bucket(size_);
  bucket_count_ = size_ / bucket_floats_ + (size_ % bucket_floats_ != 0 ? 1 : 0);
  if (bucket_count_ > std::numeric_limits<std::uint32_t>::max()) {
    throw ConfigError("a model of " + std::to_string(size_) + " floats in buckets of " +
                          std::to_string(bucket_floats_) + " makes more than 2^32 buckets",
                      "choose a larger bucket size");
  }
  hash_ = hash_of(parameters_, bucket_floats_);
}

Layout Layout::flat(std::size_t size, std::size_t bucket_floats) {
  if (size > kMaxFloats) {
    throw ConfigError("a flat model of " + std::to_string(size) + " floats",
                      "give a size under " + max_text());
  }
  ParameterSlot slot;
  slot.shape = {static_cast<std::int64_t>(size)};
  return Layout({std::move(slot)}, bucket_floats);
}

std::vector<ParameterSlot>::const_iterator Layout::slot_at(std::size_t place) const {
  const auto before_end = [](std::size_t at, const ParameterSlot& slot) {
    return at < slot.offset + slot.size;
  };
  return std::upper_bound(parameters_.begin(), parameters_.end(), place, before_end);
}

BucketRange Layout::bucket(std::size_t index) const {
  if (index >= bucket_count_) {
    throw InvariantError("Layout::bucket(" + std::to_string(index) + ") of " +
                         std::to_string(bucket_count_));
  }
  const std::size_t begin = index * bucket_floats_;
  return {begin, std::min(bucket_floats_, size_ - begin)};
}

}  // namespace stencil
