#include <gtest/gtest.h>

#include <functional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "stencil/codec/fp32_codec.h"
#include "stencil/core/error.h"
#include "stencil/mix/mixer.h"
#include "stencil/threads/thread_check.h"

namespace stencil {
namespace {

/// Fp32Codec that calls `on_encode` first.
class Hooked final : public Codec {
 public:
  explicit Hooked(std::function<void()> on_encode) : on_encode_(std::move(on_encode)) {}
  [[nodiscard]] std::size_t encoded_size(std::size_t floats) const override {
    return exact_.encoded_size(floats);
  }
  [[nodiscard]] bool encode(std::span<const float> values,
                            std::span<std::byte> out) const override {
    on_encode_();
    return exact_.encode(values, out);
  }
  [[nodiscard]] bool decode(std::span<const std::byte> bytes, std::span<float> out) const override {
    return exact_.decode(bytes, out);
  }

 private:
  std::function<void()> on_encode_;
  Fp32Codec exact_;
};

/// Whether another thread is refused `call`.
template <typename Call>
bool refused_elsewhere(Call call) {
  bool refused = false;
  std::thread([&] {
    try {
      call();
    } catch (const InvariantError&) {
      refused = true;
    }
  }).join();
  return refused;
}

TEST(MixerThreads, two_may_be_in_different_halves_at_once_and_not_in_the_same) {
  const Layout layout({{"w", {2000}}}, 1000);
  std::vector<float> x(layout.size(), 1.0F);
  std::vector<double> scalars{0.0};
  Mixer mixer(layout, x, scalars);
  std::vector<std::byte> mine(4000), other(4000);
  int encoded = 0;
  const Hooked codec([&] {
    ++encoded;
    EXPECT_FALSE(refused_elsewhere([&] { mixer.fold_telemetry(scalars); }));
    EXPECT_FALSE(refused_elsewhere([&] { (void)mixer.fold(x, 1, 2); }));
    EXPECT_EQ(refused_elsewhere([&] { (void)mixer.copy(1, other); }), kThreadsChecked);
  });
  EXPECT_TRUE(mixer.snapshot(0, codec, mine).applied);
  EXPECT_EQ(encoded, 1);
  EXPECT_FALSE(refused_elsewhere([&] { (void)mixer.copy(1, other); }));
}

}  // namespace
}  // namespace stencil
