#include "stencil/mix/lock_step.h"

#include <algorithm>

#include "stencil/mix/blocks.h"
#include "stencil/mix/kernels.h"

namespace stencil::lock_step {
namespace {

/// `shown(begin, n)` gives the values that are published.
template <typename Shown>
bool publish_values(Shown shown, std::span<float> y, std::span<float> p, const Codec& codec,
                    double self_weight) {
  bool finite = true;
  Block decoded;
  std::array<std::byte, kBlockFloats * sizeof(float)> bytes;
  for_blocks(y.size(), [&](std::size_t begin, std::size_t n) {
    const float* const x = shown(begin, n);
    const float* sent = x;
    if (codec.is_identity()) {
      finite &= kernels::finite(sent, n);
    } else {
      const auto out = std::span<std::byte>(bytes).first(codec.encoded_size(n));
      finite &= codec.encode({x, n}, out);
      (void)codec.decode(out, {decoded.data(), n});
      sent = decoded.data();
    }
    kernels::publish(x, sent, 1 - self_weight, &y[begin], &p[begin], n);
  });
  return finite;
}

}  // namespace

bool publish(std::span<const float> x, std::span<float> y, std::span<float> p, const Codec& codec,
             double self_weight) {
  const auto shown = [&](std::size_t begin, std::size_t) { return &x[begin]; };
  return publish_values(shown, y, p, codec, self_weight);
}

bool publish_with_rest(std::span<const float> x, std::span<float> y, std::span<float> p,
                       const Codec& codec, double self_weight) {
  Block whole;
  const auto shown = [&](std::size_t begin, std::size_t n) {
    (void)kernels::sum(&x[begin], &p[begin], whole.data(), n);  // what is not finite is found below
    return whole.data();
  };
  return publish_values(shown, y, p, codec, self_weight);
}

bool absorb(std::span<float> p, const Codec& codec, std::span<const std::byte> s, double weight) {
  Incoming theirs(codec, s);
  if (!theirs.all_finite(p.size())) return false;
  for_blocks(p.size(), [&](std::size_t begin, std::size_t n) {
    kernels::absorb(theirs.block(begin, n), weight, &p[begin], n);
  });
  return true;
}

void collect(std::span<float> x, std::span<float> p, ElementType type) {
  if (!rounds(type)) {
    std::ranges::copy(p, x.begin());
    return;
  }
  Block unused;
  std::ranges::fill(x, 0.0F);
  for_blocks(x.size(), [&](std::size_t begin, std::size_t n) {
    (void)kernels::fold(&x[begin], unused.data(), &p[begin], n, type);
  });
}

}  // namespace stencil::lock_step
