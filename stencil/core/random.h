#pragma once

#include <cstdint>

namespace stencil {

/// SplitMix64 (Steele, Lea, Flood 2014). Own code because results must repeat on every standard
/// library: the std distributions are not specified bit for bit. Value type, not thread-safe.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  /// Random(state()) continues this sequence.
  [[nodiscard]] std::uint64_t state() const { return state_; }

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

  /// Uniform in [0, bound); bound > 0. Multiply-shift; its bias is below bound / 2^64.
  std::uint64_t below(std::uint64_t bound) { return high_half(next(), bound); }

  /// Uniform in [0, 1), 53 bits.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

  /// Standard normal (Marsaglia's polar method).
  double normal();

  /// An independent stream for (seed, purpose), e.g. one per rank.
  static std::uint64_t derive(std::uint64_t seed, std::uint64_t stream) {
    Random mix(seed ^ (stream * 0xd1342543de82ef95ULL + 0x2545f4914f6cdd1dULL));
    return mix.next();
  }

  /// See Engine::fields().
  template <typename A, typename T>
  static void fields(A& a, T& v) {
    a(v.state_);
  }

 private:
  /// The upper 64 bits of a * b, by halves: machines of 32 bits have no numbers of 128.
  static std::uint64_t high_half(std::uint64_t a, std::uint64_t b) {
    constexpr std::uint64_t kLow = 0xffffffff;
    const std::uint64_t mixed = (a >> 32) * (b & kLow) + ((a & kLow) * (b & kLow) >> 32);
    const std::uint64_t other = (a & kLow) * (b >> 32) + (mixed & kLow);
    return (a >> 32) * (b >> 32) + (mixed >> 32) + (other >> 32);
  }

  std::uint64_t state_;
};

}  // namespace stencil
