// Mixer's operations of mode sync.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <span>

#include "stencil/mix/following.h"
#include "stencil/mix/lock_step.h"
#include "stencil/mix/mixer.h"

namespace stencil {

FoldReport Mixer::publish(std::span<const float> x, std::span<const double> telemetry,
                          const Codec& codec, double self_weight) {
  const OneAtATime::Inside inside(training_, "Mixer::publish()");
  std::atomic<bool> finite = true;
  auto publish_bucket = [&](std::uint32_t b) {
    const BucketGuard guard = BucketGuard::wait(segment_.control(b));
    const BucketRange range = layout_.bucket(b);
    const auto publish = layout_.rounded() ? lock_step::publish_with_rest : lock_step::publish;
    if (!publish(x.subspan(range.begin, range.size), y(guard, b), changing(guard, b).p, codec,
                 self_weight)) {
      finite = false;
    }
  };
  team_.each(telemetry_bucket(), publish_bucket);
  const FoldReport result{.folded = telemetry_bucket(), .finite = finite};
  const MutexLock lock(telemetry_lock_);
  for (std::size_t i = 0; i < telemetry.size(); ++i) {
    telemetry_y_[i] = telemetry[i];
    telemetry_p_[i] = self_weight * telemetry[i];
  }
  return result;
}

MixReport Mixer::snapshot(std::uint32_t bucket, const Codec& codec, std::span<std::byte> out) {
  const OneAtATime::Inside inside(background_, "Mixer::snapshot()");
  if (bucket == telemetry_bucket()) {
    const MutexLock lock(telemetry_lock_);
    std::ranges::copy(std::as_bytes(std::span(telemetry_y_)), out.begin());
    return {.applied = true};
  }
  const BucketGuard guard = lock(bucket);
  if (!guard) return MixReport::locked();
  return {.applied = codec.encode(values(guard, bucket).y, out)};
}

MixReport Mixer::absorb(std::uint32_t bucket, const Codec& codec, std::span<const std::byte> s,
                        double weight) {
  const OneAtATime::Inside inside(background_, "Mixer::absorb()");
  if (bucket == telemetry_bucket()) {
    return change_telemetry([&](auto ours) { return telemetry::absorb(ours, s, weight); });
  }
  const BucketGuard guard = lock(bucket);
  if (!guard) return MixReport::locked();
  return {.applied = lock_step::absorb(changing(guard, bucket).p, codec, s, weight)};
}

void Mixer::collect(std::span<float> x, std::span<double> telemetry) {
  const OneAtATime::Inside inside(training_, "Mixer::collect()");
  auto collect_bucket = [&](std::uint32_t b) {
    const BucketGuard guard = BucketGuard::wait(segment_.control(b));
    layout_.visit_parts(b, [&](TypedRange part) {
      change_followed(followers_, x, part.begin, part.size, [&](std::size_t begin, std::size_t n) {
        lock_step::collect(x.subspan(begin, n), segment_.p().subspan(begin, n), part.type);
      });
    });
  };
  team_.each(telemetry_bucket(), collect_bucket);
  const MutexLock lock(telemetry_lock_);
  std::ranges::copy(telemetry_p_, telemetry.begin());
}

}  // namespace stencil
