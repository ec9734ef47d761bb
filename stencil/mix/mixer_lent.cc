#include "stencil/mix/mixer.h"

namespace stencil {

void Mixer::lend(std::span<float> x, std::span<const std::uint8_t> buckets) {
  const OneAtATime::Inside inside(training_, "Mixer::lend()");
  take_back(0, telemetry_bucket());  // whatever is lent is of the `x` of before
  lent_x_ = x;
  for (std::uint32_t b = 0; b < buckets.size(); ++b) {
    if (buckets[b] != 0 && behind_[b] == 0) lent_.lend(b);
  }
}

void Mixer::take_back(std::uint32_t from, std::uint32_t to) {
  if (!lent_.any()) return;
  for (std::uint32_t b = from; b < to; ++b) lent_.take_back(b);
  if (from == 0 && to == telemetry_bucket()) lent_.none();
}

void Mixer::fold_one_lent(std::uint32_t bucket) {
  const OneAtATime::Inside inside(background_, "Mixer::fold_lent()");
  if (!lent_.use(bucket)) return;
  if (const BucketGuard guard = try_lock(bucket)) {
    if (!fold_bucket(guard, bucket, lent_x_)) lent_finite_ = false;
  }
  lent_.leave(bucket);  // without the lock, which the training thread may try next
}

}  // namespace stencil
