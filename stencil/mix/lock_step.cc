#include "stencil/mix/lock_step.h"

#include <algorithm>

#include "stencil/mix/blocks.h"
#include "stencil/mix/kernels.h"

namespace stencil::lock_step {

bool publish(std::span<const float> x, std::span<float> y, std::span<float> p, const Codec& codec,
             double self_weight) {
  bool finite = true;
  Block room;
  std::array<std::byte, kBlockFloats * sizeof(float)> bytes;
  for_blocks(x.size(), [&](std::size_t begin, std::size_t n) {
    const float* sent = &x[begin];
    if (codec.is_identity()) {
      finite &= kernels::finite(sent, n);
    } else {
      const auto out = std::span<std::byte>(bytes).first(codec.encoded_size(n));
      finite &= codec.encode(x.subspan(begin, n), out);
      (void)codec.decode(out, {room.data(), n});
      sent = room.data();
    }
    kernels::publish(&x[begin], sent, 1 - self_weight, &y[begin], &p[begin], n);
  });
  return finite;
}

bool absorb(std::span<float> p, const Codec& codec, std::span<const std::byte> s, double weight) {
  Incoming theirs(codec, s);
  if (!theirs.all_finite(p.size())) return false;
  for_blocks(p.size(), [&](std::size_t begin, std::size_t n) {
    kernels::absorb(theirs.block(begin, n), weight, &p[begin], n);
  });
  return true;
}

void collect(std::span<float> x, std::span<const float> p) {
  std::copy(p.begin(), p.end(), x.begin());
}

}  // namespace stencil::lock_step
