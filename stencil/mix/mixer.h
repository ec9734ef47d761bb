#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "stencil/codec/codec.h"
#include "stencil/core/frame.h"
#include "stencil/core/layout.h"
#include "stencil/mix/edge_delta.h"

namespace stencil {

/// What one step boundary did.
struct FoldReport {
  std::size_t folded = 0;    ///< buckets
  std::size_t deferred = 0;  ///< buckets held by the background thread both times we tried
  bool finite = true;        ///< false: the worker's own parameters are no longer numbers
};

/// What an exchange on one bucket did; `applied` false means that nothing was changed.
struct MixReport {
  bool applied = false;
  double distance2 = 0;  ///< |theirs - ours|^2 over the bucket; 0 for telemetry
  double norm2 = 0;      ///< |ours|^2 where it was at hand, else 0
};

/// The memory of the exchange, y and p (as large as the model each), and the operations on it.
/// Arithmetic only: no I/O, no time, no idea of neighbours. Buckets 0 .. layout.bucket_count()-1
/// hold the model; one more, telemetry_bucket(), holds float64 scalars that pass no codec.
///
/// Threads: fold*, publish*, collect* belong to the training thread, all others to the background
/// thread; the two meet at one lock per bucket, held for one pass over that bucket. The training
/// thread never waits for a lock in fold(): a bucket that is held is tried once more at the end and
/// then left for the next boundary, which keeps z = y + p right.
class Mixer {
 public:
  /// `initial` is x at the start (layout.size() floats), `telemetry` the scalars' start values.
  Mixer(const Layout& layout, std::span<const float> initial, std::span<const double> telemetry);

  [[nodiscard]] const Layout& layout() const { return layout_; }
  [[nodiscard]] std::uint32_t telemetry_bucket() const {
    return static_cast<std::uint32_t>(layout_.bucket_count());
  }
  /// Buckets in all, the telemetry among them.
  [[nodiscard]] std::uint32_t bucket_count() const { return telemetry_bucket() + 1; }
  /// Bytes of a bucket on the wire.
  [[nodiscard]] std::size_t encoded_size(std::uint32_t bucket, const Codec& codec) const;

  // Edge-delta: see edge_delta.h. The payload sizes are checked by the caller.
  FoldReport fold(std::span<float> x);
  [[nodiscard]] bool offer(std::uint32_t bucket, const Codec& codec, std::span<std::byte> out);
  MixReport answer(std::uint32_t bucket, const Codec& offer_codec, std::span<const std::byte> s,
                   int divisor, const Codec& reply_codec, std::span<std::byte> reply);
  MixReport settle(std::uint32_t bucket, const Codec& codec, std::span<const std::byte> d,
                   int divisor);
  MixReport merge(std::uint32_t bucket, const Codec& our_codec, std::span<const std::byte> ours,
                  const Codec& their_codec, std::span<const std::byte> theirs);
  /// Takes over a neighbour's values; x follows at the next fold.
  MixReport adopt(std::uint32_t bucket, const Codec& codec, std::span<const std::byte> s);

  // Lock-step: see lock_step.h. publish() may only be called when every neighbour has pulled the
  // round before, collect() when every neighbour was absorbed.
  FoldReport publish(std::span<const float> x, std::span<const double> telemetry,
                     const Codec& codec, double self_weight);
  [[nodiscard]] bool snapshot(std::uint32_t bucket, const Codec& codec, std::span<std::byte> out);
  MixReport absorb(std::uint32_t bucket, const Codec& codec, std::span<const std::byte> s,
                   double weight);
  void collect(std::span<float> x, std::span<double> telemetry);

  /// The scalars' own boundary: x += p; y = x; p = 0, each scalar checked by itself. Training
  /// thread.
  void fold_telemetry(std::span<double> x);

  /// z = y + p of the whole model, for tests and for the simulator's account. Takes every lock.
  void read_z(std::span<float> z) const;
  void read_telemetry_z(std::span<double> z) const;

 private:
  struct View {
    std::span<float> y, p;
  };
  View view(std::uint32_t bucket);

  Layout layout_;
  std::vector<float> y_, p_;
  std::vector<double> telemetry_y_, telemetry_p_;
  mutable std::vector<std::mutex> locks_;
  std::vector<std::uint32_t> held_;  ///< fold's second tries; training thread only
};

}  // namespace stencil
