#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "stencil/codec/top_k.h"
#include "stencil/core/layout.h"
#include "stencil/mix/edge_delta.h"

namespace stencil {

/// What one neighbour last saw of this worker's model, and whose turn it is: by this the
/// coordinates are chosen that it is shown next. A copy of the model for each neighbour, which only
/// codec topk keeps. It decides what is sent and never what is applied, so it may be as wrong as it
/// likes after a loss. One thread.
class Shown {
 public:
  /// Nothing kept.
  Shown() = default;
  /// `initial` is what both begin with.
  Shown(const Layout& layout, std::span<const float> initial);

  struct Bucket {
    std::span<float> values;
    /// Coordinates that have not moved must be shown too, or what differs might stay so (after an
    /// outage, say, or where a worker came back). From here on they go by turns. Each exchange
    /// leaves both ends of the edge with the same turn, so that offers which cross show the same:
    /// were they apart, workers in step would never agree on what does not move.
    std::uint32_t& turn;
  };
  [[nodiscard]] Bucket bucket(const Layout& layout, std::uint32_t bucket);

 private:
  std::vector<float> values_;
  std::vector<std::uint32_t> turns_;
};

/// The edge-delta rule (edge_delta.h) on the part of a bucket that an offer shows.
namespace top_k_delta {

/// Coordinates that every offer of `count` gives to those that wait for their turn: an eighth.
[[nodiscard]] constexpr std::size_t by_turns(std::size_t count) {
  return (count + 7) / 8;
}

/// Where choosing is done; for buckets of any size up to that it was made for.
struct Room {
  explicit Room(std::size_t floats = 0) : news(floats), chosen(floats + 1) {}
  std::vector<float> news;            ///< what was shown less what is there
  std::vector<std::uint32_t> chosen;  ///< coordinates, and one that is not
};

/// Shows `count` coordinates: by_turns() and, of the others, those furthest from what was shown;
/// where not as many have moved, more go by turns. "Furthest" is told by 8 bits of exponent and 4
/// of fraction, within which the first come are taken. Two passes over the bucket, no sorting.
/// Where not finite, nothing may be sent. What was shown stays as it was, for the offer may yet
/// come to nothing.
[[nodiscard]] edge_delta::Outcome offer(std::span<const float> y, std::span<const float> p,
                                        Shown::Bucket shown, Room& room, std::size_t count,
                                        std::span<std::byte> out);

/// d = (s - z) / divisor, rounded, into `reply`, then p += d, for each coordinate that `s` shows;
/// they have seen ours by that.
[[nodiscard]] edge_delta::Outcome answer(std::span<const float> y, std::span<float> p,
                                         Shown::Bucket shown, const Part& s, int divisor,
                                         std::span<std::byte> reply);

/// p -= d, for the coordinates that `ours` showed.
[[nodiscard]] edge_delta::Outcome settle(std::span<float> p, Shown::Bucket shown, const Part& ours,
                                         std::span<const std::byte> d, int divisor);

/// Two offers crossed: p += (theirs - ours) / 2 where both show a coordinate, as both ends know.
[[nodiscard]] edge_delta::Outcome merge(std::span<float> p, Shown::Bucket shown, const Part& ours,
                                        const Part& theirs);

}  // namespace top_k_delta
}  // namespace stencil
