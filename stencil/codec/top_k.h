#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "stencil/codec/byte_order.h"
#include "stencil/codec/places.h"
#include "stencil/core/half_floats.h"

namespace stencil {

/// topk:F sends, of each bucket, the k = ceil(F * size) coordinates that moved most since the
/// neighbour last saw them (mix/codecs/top_k.h chooses them). These are averaged by the dense rule,
/// the others not at all:
///
///   offer := turn (u32)  k (u32)  places (see places.h)  value (f32) x k
///   reply := delta (fp16) x k, for the offer's coordinates in its order
///
/// `turn` is the first coordinate of the sender's round-robin stretch (see mix/codecs/top_k.h). All
/// numbers are little-endian. k, and so the sizes, follow from the bucket's size. For F = 0.1 a
/// coordinate takes 4.7 bytes to offer and 2 to answer. Both ends apply the rounded delta, so the
/// mean is kept. Rounding changes a delta by 2^-11 of itself, or at most doubles a tiny one, so two
/// ends are never further apart than they were. Joining and the end of a run go in plain fp32.
///
/// How it differs from related methods, and why: CHOCO-SGD (Koloskova et al. 2019) sends compressed
/// differences to replicas that both ends of an edge must keep equal, and steps towards them with a
/// damped rate, since what is offered is approximate; sparsified gossip that averages whole vectors
/// with missing entries loses the mean. Here the offered values are exact: whatever coordinates are
/// chosen, averaging a pair in them keeps the mean and never spreads the workers. So each end keeps
/// a reference of its own, one copy of the model per neighbour instead of two, and a broken
/// connection needs no repair. The price: coordinates wait for their turn.
class TopK {
 public:
  static constexpr std::uint32_t kWhole = 1'000'000;
  /// With a larger share, places and values would take more bytes than all values.
  static constexpr std::uint32_t kLargestShare = kWhole / 2;

  /// `share` of a bucket, in millionths.
  explicit TopK(std::uint32_t share) : share_(share) {}

  /// k; 0 for an empty bucket.
  [[nodiscard]] std::size_t count(std::size_t floats) const {
    return (floats * share_ + kWhole - 1) / kWhole;
  }
  [[nodiscard]] std::size_t offer_size(std::size_t floats) const {
    const std::size_t k = count(floats);
    return kHead + Places{floats, k}.bytes() + 4 * k;
  }
  [[nodiscard]] std::size_t reply_size(std::size_t floats) const { return 2 * count(floats); }

  /// Bytes of an offer before its places.
  static constexpr std::size_t kHead = 8;

 private:
  std::uint32_t share_;
};

/// The coordinates of a bucket that an offer shows, and their values: a view into its payload.
class Part {
 public:
  /// Reads an offer in kTopK for a bucket of `floats`. Returns nothing where its size does not
  /// match its k, where `turn` or a place is out of range, or where a value is not finite.
  [[nodiscard]] static std::optional<Part> read(std::span<const std::byte> offer,
                                                std::size_t floats);
  /// Reads an offer in fp32, which shows all coordinates. Returns nothing where a value is not
  /// finite.
  [[nodiscard]] static std::optional<Part> whole(std::span<const std::byte> offer);

  [[nodiscard]] std::size_t size() const { return places_.count; }
  [[nodiscard]] std::uint32_t turn() const { return turn_; }

  /// Iterates over the coordinates in increasing order.
  class Walk {
   public:
    explicit Walk(const Part& part)
        : part_(part), reader_(part.places_, part.at_), whole_(part.at_ == nullptr) {
      if (!done()) read();
    }
    [[nodiscard]] bool done() const { return j_ == part_.size(); }
    [[nodiscard]] std::uint32_t index() const { return index_; }
    [[nodiscard]] float value() const { return load_float(part_.values_ + 4 * j_); }
    void next() {
      ++j_;
      if (!done()) read();
    }

   private:
    void read() { index_ = whole_ ? static_cast<std::uint32_t>(j_) : reader_.next(); }

    const Part& part_;
    PlaceReader reader_;
    bool whole_;
    std::size_t j_ = 0;
    std::uint32_t index_ = 0;
  };

  /// Calls visit(j, index, value) for each, the j-th coordinate.
  template <typename Visit>
  void for_each(Visit visit) const {
    std::size_t j = 0;
    for (Walk walk(*this); !walk.done(); walk.next()) visit(j++, walk.index(), walk.value());
  }

 private:
  Part(Places places, const unsigned char* at, const unsigned char* values)
      : places_(places), at_(at), values_(values) {}
  [[nodiscard]] bool all_finite() const;

  Places places_;
  const unsigned char* at_;  ///< the coded places; null where all coordinates are shown
  const unsigned char* values_;
  std::uint32_t turn_ = 0;
};

/// Writes an offer, coordinate by coordinate.
class PartWriter {
 public:
  /// `offer` holds exactly the bytes for k coordinates of a bucket of `floats`.
  PartWriter(std::span<std::byte> offer, std::uint32_t turn, std::size_t floats, std::size_t k);
  void add(std::uint32_t index, float value) {
    places_.add(index);
    store_float(value, values_);
    values_ += 4;
  }

 private:
  PlaceWriter places_;
  unsigned char* values_;
};

/// The deltas of a reply, by place in the offer.
[[nodiscard]] inline float load_delta(std::span<const std::byte> reply, std::size_t j) {
  const auto* const bytes = reinterpret_cast<const unsigned char*>(reply.data());
  return float_from_half(load_little_endian<std::uint16_t>(bytes + 2 * j));
}
inline void store_delta(float delta, std::span<std::byte> reply, std::size_t j) {
  store_little_endian(half_from_float(delta),
                      reinterpret_cast<unsigned char*>(reply.data()) + 2 * j);
}

}  // namespace stencil
