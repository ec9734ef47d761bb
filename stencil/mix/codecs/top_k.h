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
/// Keeps a copy of this worker's model as the neighbour last saw it, and the next coordinate of the
/// round robin. Both choose the coordinates of the next offer. They decide what is sent and never
/// what is applied, so they may be wrong after a loss.
///
/// Coordinates that have not moved must be shown too, or differences in them would stay (for
/// example after an outage, or where a worker came back). So an eighth of each offer takes
/// coordinates by turns, round robin. Each exchange leaves both ends of the edge at the same turn,
/// so that offers that cross show the same coordinates; otherwise workers in step would never agree
/// on what does not move.
class TopKEdgeCodec final : public EdgeCodec {
 public:
  /// `initial` is the model that both ends begin with.
  TopKEdgeCodec(TopK top_k, CodecNumber number, const Layout& layout,
                std::span<const float> initial);

  /// Bytes that one keeps.
  [[nodiscard]] static std::size_t kept(const Layout& layout) {
    const std::size_t scratch = layout.bucket_floats() * 2 + 1;
    return (layout.size() + layout.bucket_count() + scratch) * sizeof(float);
  }

  /// How many of an offer's `count` coordinates go by turns.
  [[nodiscard]] static constexpr std::size_t by_turns(std::size_t count) { return (count + 7) / 8; }

  [[nodiscard]] CodedForm offer_form(std::size_t floats) const override;
  [[nodiscard]] CodedForm reply_form(std::size_t floats) const override;

  /// Shows by_turns() coordinates and, of the others, those furthest from what was last shown;
  /// where too few have moved, more go by turns. Distances are compared by 8 bits of exponent and 4
  /// of fraction; among equals the first come first. Two passes over the bucket, no sorting. The
  /// copy of what was shown is not changed yet, since the offer may be lost.
  [[nodiscard]] edge_delta::Outcome offer(BucketValues ours, std::span<std::byte> out) override;

  /// Answers each coordinate that the offer shows. By the reply the neighbour sees our values
  /// there.
  [[nodiscard]] edge_delta::Outcome answer(BucketValues ours, std::span<const std::byte> offer,
                                           int divisor, std::span<std::byte> reply) override;

  /// For the coordinates that `offer` showed.
  [[nodiscard]] edge_delta::Outcome complete(BucketValues ours, std::span<const std::byte> offer,
                                             std::span<const std::byte> reply,
                                             int divisor) override;

  /// Averages the coordinates that both offers show.
  [[nodiscard]] edge_delta::Outcome merge(BucketValues ours, CodedOffer offered,
                                          CodedOffer theirs) override;

  void adopted(BucketValues ours) override;

  /// What the neighbour has seen of a bucket, from which the next offer is chosen.
  struct Shown {
    std::span<float> values;
    std::uint32_t& turn;  ///< the next coordinate of the round robin
  };
  [[nodiscard]] Shown shown(const BucketValues& ours);

 private:
  TopK top_k_;
  CodecNumber number_;
  std::size_t bucket_floats_;
  std::vector<float> values_;
  std::vector<std::uint32_t> turns_;  ///< by bucket

  // Scratch space for choosing an offer's coordinates.
  std::vector<float> news_;            ///< the current values minus those last shown
  std::vector<std::uint32_t> chosen_;  ///< coordinates, and room for one more that is not chosen
};

}  // namespace stencil
