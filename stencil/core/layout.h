#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "stencil/core/element_type.h"

namespace stencil {

/// One parameter's place in the flat vector. Offsets and sizes count floats.
struct ParameterSlot {
  std::string name;
  std::vector<std::int64_t> shape;
  std::size_t offset = 0;
  std::size_t size = 0;
  ElementType type = ElementType::kF32;  ///< of the framework's memory
};

/// "[10, 64]"
[[nodiscard]] std::string shape_text(const std::vector<std::int64_t>& shape);

/// A run of the flat vector, in floats.
struct BucketRange {
  std::size_t begin = 0;
  std::size_t size = 0;
};

/// A run of the flat vector that the framework stores in one type.
struct TypedRange {
  std::size_t begin = 0;
  std::size_t size = 0;
  ElementType type = ElementType::kF32;
};

/// What a model looks like to the exchange: named, shaped parameters laid end to end in one flat
/// float vector, cut into buckets. Immutable value. Two workers may exchange when their hashes
/// agree.
class Layout {
 public:
  static constexpr std::size_t kLargestBucketFloats = 64 * 1024;  ///< 256 KiB; of suitable_bucket()
  static constexpr std::size_t kSmallestBucketFloats = 4 * 1024;  ///< 16 KiB

  /// The size of buckets that suits a model of so many floats: a power of two that cuts it into 16
  /// or more, within the two bounds. A bucket is open to one neighbour at a time, so a model of few
  /// buckets mixes slowly where links are thin; very small ones cost more than their bytes.
  /// Measured in bench/results/engine.md.
  [[nodiscard]] static std::size_t suitable_bucket(std::size_t floats);

  /// Takes names and shapes in order and fills in offsets and sizes. A `bucket_floats` of 0 means
  /// suitable_bucket(). Throws ConfigError for a negative dimension or a doubled name.
  explicit Layout(std::vector<ParameterSlot> parameters, std::size_t bucket_floats = 0);

  /// A single unnamed parameter of `size` floats.
  static Layout flat(std::size_t size, std::size_t bucket_floats = 0);

  [[nodiscard]] const std::vector<ParameterSlot>& parameters() const { return parameters_; }
  [[nodiscard]] std::size_t size() const { return size_; }  ///< floats
  [[nodiscard]] std::size_t bucket_floats() const { return bucket_floats_; }
  /// 0 for an empty model; the last bucket may be shorter.
  [[nodiscard]] std::size_t bucket_count() const { return bucket_count_; }
  [[nodiscard]] BucketRange bucket(std::size_t index) const;
  /// Of buckets `from` .. `to` - 1; there is one at least.
  [[nodiscard]] BucketRange buckets(std::size_t from, std::size_t to) const {
    const BucketRange last = bucket(to - 1);
    const std::size_t begin = bucket(from).begin;
    return {.begin = begin, .size = last.begin + last.size - begin};
  }

  /// Calls visit(TypedRange) for each part of a bucket, in order, of one type that values are
  /// rounded to, or of kF32 where they are not.
  template <typename Visit>
  void visit_parts(std::size_t bucket, Visit visit) const {
    const BucketRange whole = this->bucket(bucket);
    const std::size_t end = whole.begin + whole.size;
    TypedRange part{.begin = whole.begin};
    for (auto slot = slot_at(whole.begin); part.begin + part.size < end; ++slot) {
      const std::size_t begin = part.begin + part.size;
      const ElementType type = rounds(slot->type) ? slot->type : ElementType::kF32;
      if (type != part.type && part.size > 0) {
        visit(part);
        part = {.begin = begin};
      }
      part.type = type;
      part.size += std::min(slot->offset + slot->size, end) - begin;
    }
    visit(part);
  }
  /// Whether any parameter is of a type that values are rounded to.
  [[nodiscard]] bool rounded() const { return rounded_; }

  /// Hash of names, shapes, types and bucket size (xxHash64), equal on every machine.
  [[nodiscard]] std::uint64_t hash() const { return hash_; }

 private:
  /// The parameter that the value at `place` belongs to.
  [[nodiscard]] std::vector<ParameterSlot>::const_iterator slot_at(std::size_t place) const;

  std::vector<ParameterSlot> parameters_;
  std::size_t bucket_floats_;
  std::size_t size_ = 0;
  std::size_t bucket_count_ = 0;
  bool rounded_ = false;
  std::uint64_t hash_ = 0;
};

}  // namespace stencil
