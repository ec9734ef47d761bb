#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace stencil {

/// One parameter's place in the flat vector. Offsets and sizes count floats.
struct ParameterSlot {
  std::string name;
  std::vector<std::int64_t> shape;
  std::size_t offset = 0;
  std::size_t size = 0;
};

/// A run of the flat vector, in floats.
struct BucketRange {
  std::size_t begin = 0;
  std::size_t size = 0;
};

/// What a model looks like to the exchange: named, shaped parameters laid end to end in one flat
/// float vector, cut into buckets. Immutable value. Two workers may exchange when hashes agree.
class Layout {
 public:
  static constexpr std::size_t kLargestBucketFloats = 64 * 1024;  ///< 256 KiB, of those chosen
  static constexpr std::size_t kSmallestBucketFloats = 4 * 1024;  ///< 16 KiB

  /// The size of buckets that suits a model of so many floats: a power of two that cuts it into 16
  /// or more, within the two bounds. A bucket is open to one neighbour at a time, so a model of few
  /// buckets mixes slowly where links are thin; very small ones cost more than their bytes.
  /// Measured in bench/results/engine.md.
  [[nodiscard]] static std::size_t suitable_bucket(std::size_t floats);

  /// Names and shapes in order; offsets and sizes are filled in. `bucket_floats` 0: the suitable.
  /// Throws ConfigError for a negative dimension or a doubled name.
  explicit Layout(std::vector<ParameterSlot> parameters, std::size_t bucket_floats = 0);

  /// A single unnamed parameter of `size` floats.
  static Layout flat(std::size_t size, std::size_t bucket_floats = 0);

  [[nodiscard]] const std::vector<ParameterSlot>& parameters() const { return parameters_; }
  [[nodiscard]] std::size_t size() const { return size_; }  ///< floats
  [[nodiscard]] std::size_t bucket_floats() const { return bucket_floats_; }
  /// 0 for an empty model; the last bucket may be shorter.
  [[nodiscard]] std::size_t bucket_count() const { return bucket_count_; }
  [[nodiscard]] BucketRange bucket(std::size_t index) const;

  /// Of names, shapes and bucket size (xxHash64): equal on every machine.
  [[nodiscard]] std::uint64_t hash() const { return hash_; }

 private:
  std::vector<ParameterSlot> parameters_;
  std::size_t bucket_floats_;
  std::size_t size_ = 0;
  std::size_t bucket_count_ = 0;
  std::uint64_t hash_ = 0;
};

}  // namespace stencil
