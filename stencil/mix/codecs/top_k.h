#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "stencil/codec/top_k.h"
#include "stencil/core/layout.h"
#include "stencil/mix/edge_codec.h"

namespace stencil {

/// Codec topk: the edge-delta rule (edge_delta.h) on the part of a bucket that an offer shows.
/// Keeps what the neighbour last saw of this worker's model, a copy of it, and whose turn it is: by
/// these the coordinates are chosen that the neighbour is shown next. That decides what is sent and
/// never what is applied, so it may be as wrong as it likes after a loss.
///
/// Coordinates that have not moved must be shown too, or what differs might stay so (after an
/// outage, say, or where a worker came back): an eighth of each offer goes to coordinates by turns.
/// Each exchange leaves both ends of the edge with the same turn, so that offers which cross show
/// the same: were the turns apart, workers in step would never agree on what does not move.
class TopKEdgeCodec final : public EdgeCodec {
 public:
  /// `initial` is the model that both ends begin with.
  TopKEdgeCodec(TopK top_k, CodecNumber number, const Layout& layout,
                std::span<const float> initial);

  /// Coordinates that every offer of `count` gives to those that wait for their turn.
  [[nodiscard]] static constexpr std::size_t by_turns(std::size_t count) { return (count + 7) / 8; }

  [[nodiscard]] CodedForm offer_form(std::size_t floats) const override;
  [[nodiscard]] CodedForm reply_form(std::size_t floats) const override;

  /// Shows by_turns() coordinates and, of the others, those furthest from what was shown; where not
  /// as many have moved, more go by turns. "Furthest" is told by 8 bits of exponent and 4 of
  /// fraction, within which the first come are taken. Two passes over the bucket, no sorting. What
  /// was shown stays as it was, for the offer may yet come to nothing.
  [[nodiscard]] edge_delta::Outcome offer(BucketValues ours, std::span<std::byte> out) override;

  /// For each coordinate that the offer shows; the neighbour has seen ours by that.
  [[nodiscard]] edge_delta::Outcome answer(BucketValues ours, std::span<const std::byte> offer,
                                           int divisor, std::span<std::byte> reply) override;

  /// For the coordinates that `offer` showed.
  [[nodiscard]] edge_delta::Outcome settle(BucketValues ours, std::span<const std::byte> offer,
                                           std::span<const std::byte> reply, int divisor) override;

  /// Where both show a coordinate, as both ends know.
  [[nodiscard]] edge_delta::Outcome merge(BucketValues ours, CodedOffer offered,
                                          CodedOffer theirs) override;

  void adopted(BucketValues ours) override;

  /// What the neighbour has seen of a bucket, as the next offer goes by it.
  struct Shown {
    std::span<float> values;
    std::uint32_t& turn;  ///< from this coordinate on they go by turns
  };
  [[nodiscard]] Shown shown(const BucketValues& ours);

 private:
  TopK top_k_;
  CodecNumber number_;
  std::size_t bucket_floats_;
  std::vector<float> values_;
  std::vector<std::uint32_t> turns_;  ///< by bucket

  // Where an offer's coordinates are chosen.
  std::vector<float> news_;            ///< what was shown less what is there
  std::vector<std::uint32_t> chosen_;  ///< coordinates, and room for one that is not
};

}  // namespace stencil
