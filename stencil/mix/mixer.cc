#include "stencil/mix/mixer.h"

#include <algorithm>

#include "stencil/core/error.h"
#include "stencil/mix/lock_step.h"
#include "stencil/mix/telemetry.h"

namespace stencil {
namespace {

MixReport report(const edge_delta::Outcome& outcome) {
  return {outcome.finite, outcome.distance2, outcome.norm2};
}

}  // namespace

Mixer::Mixer(const Layout& layout, std::span<const float> initial,
             std::span<const double> telemetry)
    : layout_(layout),
      y_(initial.begin(), initial.end()),
      p_(initial.size(), 0.0F),
      telemetry_y_(telemetry.begin(), telemetry.end()),
      telemetry_p_(telemetry.size(), 0.0),
      locks_(layout.bucket_count() + 1) {
  if (initial.size() != layout.size()) {
    throw InvariantError("Mixer: initial values do not have the layout's size");
  }
  held_.reserve(layout.bucket_count());
}

Mixer::View Mixer::view(std::uint32_t bucket) {
  const BucketRange range = layout_.bucket(bucket);
  return {std::span(y_).subspan(range.begin, range.size),
          std::span(p_).subspan(range.begin, range.size)};
}

std::size_t Mixer::encoded_size(std::uint32_t bucket, const Codec& codec) const {
  if (bucket == telemetry_bucket()) return telemetry_y_.size() * sizeof(double);
  return codec.encoded_size(layout_.bucket(bucket).size);
}

FoldReport Mixer::fold(std::span<float> x) {
  FoldReport result;
  held_.clear();
  const auto fold_locked = [&](std::uint32_t bucket) {
    const View v = view(bucket);
    const BucketRange range = layout_.bucket(bucket);
    result.finite &= edge_delta::fold(x.subspan(range.begin, range.size), v.y, v.p);
    ++result.folded;
  };
  for (std::uint32_t b = 0; b < telemetry_bucket(); ++b) {
    const std::unique_lock lock(locks_[b], std::try_to_lock);
    if (lock) {
      fold_locked(b);
    } else {
      held_.push_back(b);
    }
  }
  for (const std::uint32_t b : held_) {
    const std::unique_lock lock(locks_[b], std::try_to_lock);
    if (lock) {
      fold_locked(b);
    } else {
      ++result.deferred;
    }
  }
  return result;
}

bool Mixer::offer(std::uint32_t bucket, const Codec& codec, std::span<std::byte> out) {
  const std::lock_guard lock(locks_[bucket]);
  if (bucket == telemetry_bucket()) {
    telemetry::offer(telemetry_y_, telemetry_p_, out);
    return true;
  }
  const View v = view(bucket);
  return edge_delta::offer(v.y, v.p, codec, out);
}

MixReport Mixer::answer(std::uint32_t bucket, const Codec& offer_codec,
                        std::span<const std::byte> s, int divisor, const Codec& reply_codec,
                        std::span<std::byte> reply) {
  const std::lock_guard lock(locks_[bucket]);
  if (bucket == telemetry_bucket()) {
    telemetry::answer(telemetry_y_, telemetry_p_, s, divisor, reply);
    return {.applied = true};
  }
  const View v = view(bucket);
  return report(edge_delta::answer(v.y, v.p, offer_codec, s, divisor, reply_codec, reply));
}

MixReport Mixer::settle(std::uint32_t bucket, const Codec& codec, std::span<const std::byte> d,
                        int divisor) {
  const std::lock_guard lock(locks_[bucket]);
  if (bucket == telemetry_bucket()) {
    telemetry::settle(telemetry_p_, d);
    return {.applied = true};
  }
  return report(edge_delta::settle(view(bucket).p, codec, d, divisor));
}

MixReport Mixer::merge(std::uint32_t bucket, const Codec& our_codec,
                       std::span<const std::byte> ours, const Codec& their_codec,
                       std::span<const std::byte> theirs) {
  const std::lock_guard lock(locks_[bucket]);
  if (bucket == telemetry_bucket()) {
    telemetry::merge(telemetry_p_, ours, theirs);
    return {.applied = true};
  }
  return report(edge_delta::merge(view(bucket).p, our_codec, ours, their_codec, theirs));
}

MixReport Mixer::adopt(std::uint32_t bucket, const Codec& codec, std::span<const std::byte> s) {
  const std::lock_guard lock(locks_[bucket]);
  if (bucket == telemetry_bucket()) {
    telemetry::adopt(telemetry_y_, telemetry_p_, s);
    return {.applied = true};
  }
  const View v = view(bucket);
  return report(edge_delta::adopt(v.y, v.p, codec, s));
}

FoldReport Mixer::publish(std::span<const float> x, std::span<const double> telemetry,
                          const Codec& codec, double self_weight) {
  FoldReport result;
  for (std::uint32_t b = 0; b < telemetry_bucket(); ++b) {
    const std::lock_guard lock(locks_[b]);
    const View v = view(b);
    const BucketRange range = layout_.bucket(b);
    result.finite &=
        lock_step::publish(x.subspan(range.begin, range.size), v.y, v.p, codec, self_weight);
    ++result.folded;
  }
  const std::lock_guard lock(locks_[telemetry_bucket()]);
  for (std::size_t i = 0; i < telemetry.size(); ++i) {
    telemetry_y_[i] = telemetry[i];
    telemetry_p_[i] = self_weight * telemetry[i];
  }
  return result;
}

bool Mixer::snapshot(std::uint32_t bucket, const Codec& codec, std::span<std::byte> out) {
  const std::lock_guard lock(locks_[bucket]);
  if (bucket == telemetry_bucket()) {
    std::ranges::copy(std::as_bytes(std::span(telemetry_y_)), out.begin());
    return true;
  }
  return codec.encode(view(bucket).y, out);
}

MixReport Mixer::absorb(std::uint32_t bucket, const Codec& codec, std::span<const std::byte> s,
                        double weight) {
  const std::lock_guard lock(locks_[bucket]);
  if (bucket == telemetry_bucket()) {
    telemetry::absorb(telemetry_p_, s, weight);
    return {.applied = true};
  }
  return {.applied = lock_step::absorb(view(bucket).p, codec, s, weight)};
}

void Mixer::collect(std::span<float> x, std::span<double> telemetry) {
  for (std::uint32_t b = 0; b < telemetry_bucket(); ++b) {
    const std::lock_guard lock(locks_[b]);
    const BucketRange range = layout_.bucket(b);
    lock_step::collect(x.subspan(range.begin, range.size), view(b).p);
  }
  const std::lock_guard lock(locks_[telemetry_bucket()]);
  std::ranges::copy(telemetry_p_, telemetry.begin());
}

void Mixer::fold_telemetry(std::span<double> x) {
  const std::lock_guard lock(locks_[telemetry_bucket()]);
  telemetry::fold(x, telemetry_y_, telemetry_p_);
}

void Mixer::read_z(std::span<float> z) const {
  for (std::uint32_t b = 0; b < telemetry_bucket(); ++b) {
    const std::lock_guard lock(locks_[b]);
    const BucketRange range = layout_.bucket(b);
    for (std::size_t i = range.begin; i < range.begin + range.size; ++i) z[i] = y_[i] + p_[i];
  }
}

void Mixer::read_telemetry_z(std::span<double> z) const {
  const std::lock_guard lock(locks_[telemetry_bucket()]);
  for (std::size_t i = 0; i < z.size(); ++i) z[i] = telemetry_y_[i] + telemetry_p_[i];
}

}  // namespace stencil
