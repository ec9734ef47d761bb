#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "stencil/codec/byte_order.h"
#include "stencil/core/codec_spec.h"

namespace stencil {

/// topk:F sends, of each bucket, the k = ceil(F * size) coordinates that moved most since the
/// neighbour saw them last (which those are, mix/top_k_delta.h says). They are averaged as the
/// dense rule does it, in fp32, and the others not at all:
///
///   offer := turn (u32)  index (u32) x k, increasing  value (f32) x k          4 + 8 k bytes
///   reply := delta (f32) x k, for the offer's coordinates in its order             4 k bytes
///
/// `turn` is where the sender's stretch of coordinates that go by turns began. All little-endian;
/// k and so the sizes follow from the bucket's. Joining and the end of a run go in plain fp32.
///
/// What differs from its relatives, and why: CHOCO-SGD (Koloskova et al. 2019) sends compressed
/// differences to replicas that both ends of an edge must keep equal, and steps towards them with a
/// damped rate, since what is offered is approximate; sparsified gossip that averages whole vectors
/// with missing entries loses the mean. Here nothing is approximate: whatever coordinates are
/// chosen, averaging a pair in them keeps the mean and never spreads the workers. So the reference
/// is one end's own affair, costs one copy of the model per neighbour and not two at each end, and
/// a broken connection has nothing to put right. What is given up: coordinates wait for their turn.
class TopK {
 public:
  /// `share`: see CodecSpec.
  explicit TopK(std::uint32_t share) : share_(share) {}

  /// k; 0 for an empty bucket.
  [[nodiscard]] std::size_t count(std::size_t floats) const {
    return (floats * share_ + CodecSpec::kWhole - 1) / CodecSpec::kWhole;
  }
  [[nodiscard]] std::size_t offer_size(std::size_t floats) const { return 4 + 8 * count(floats); }
  [[nodiscard]] std::size_t reply_size(std::size_t floats) const { return 4 * count(floats); }

 private:
  std::uint32_t share_;
};

/// The coordinates of a bucket that an offer shows, and their values: a view of its payload.
class Part {
 public:
  /// Of an offer in kTopK for a bucket of `floats`, whose size was checked. Nothing where `turn` or
  /// an index is out of range, indices do not increase or a value is no finite number.
  [[nodiscard]] static std::optional<Part> read(std::span<const std::byte> offer,
                                                std::size_t floats);
  /// Of an offer in fp32, which shows all. Nothing where a value is no finite number.
  [[nodiscard]] static std::optional<Part> whole(std::span<const std::byte> offer);

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::uint32_t turn() const { return turn_; }
  [[nodiscard]] std::uint32_t index(std::size_t j) const {
    return indices_ == nullptr ? static_cast<std::uint32_t>(j)
                               : load_little_endian<std::uint32_t>(indices_ + 4 * j);
  }
  [[nodiscard]] float value(std::size_t j) const { return load_float(values_ + 4 * j); }

 private:
  Part(const unsigned char* indices, const unsigned char* values, std::size_t size)
      : indices_(indices), values_(values), size_(size) {}
  [[nodiscard]] bool all_finite() const;

  const unsigned char* indices_;  ///< null: all of them
  const unsigned char* values_;
  std::size_t size_;
  std::uint32_t turn_ = 0;
};

/// Writes an offer, coordinate by coordinate.
class PartWriter {
 public:
  /// `offer` holds exactly the bytes for its coordinates.
  PartWriter(std::span<std::byte> offer, std::uint32_t turn)
      : indices_(reinterpret_cast<unsigned char*>(offer.data()) + 4),
        values_(indices_ + (offer.size() - 4) / 2) {
    store_little_endian(turn, indices_ - 4);
  }
  void add(std::uint32_t index, float value) {
    store_little_endian(index, indices_);
    store_float(value, values_);
    indices_ += 4;
    values_ += 4;
  }

 private:
  unsigned char* indices_;
  unsigned char* values_;
};

}  // namespace stencil
