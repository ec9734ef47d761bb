#include "stencil/codec/fp16_codec.h"

#include "stencil/codec/byte_order.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace stencil {

namespace {

constexpr std::uint32_t kFloatExponent = 0x7f800000;
constexpr std::uint16_t kHalfExponent = 0x7c00;

// Every loop is one pass without an early end; the finite check rides along.

bool encode_portable(const float* __restrict values, std::size_t count,
                     unsigned char* __restrict out) {
  std::uint32_t bad = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto bits = std::bit_cast<std::uint32_t>(values[i]);
    bad |= static_cast<std::uint32_t>((bits & kFloatExponent) == kFloatExponent);
    store_little_endian(half_from_float(values[i]), out + 2 * i);
  }
  return bad == 0;
}

bool decode_portable(const unsigned char* __restrict in, std::size_t count, float* __restrict out) {
  std::uint32_t bad = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto half = load_little_endian<std::uint16_t>(in + 2 * i);
    bad |= static_cast<std::uint32_t>((half & kHalfExponent) == kHalfExponent);
    out[i] = float_from_half(half);
  }
  return bad == 0;
}

#if defined(__x86_64__)

__attribute__((target("avx,f16c"))) bool encode_f16c(const float* values, std::size_t count,
                                                     unsigned char* out) {
  const __m256 largest = _mm256_set1_ps(65504.0F);
  const __m256 smallest = _mm256_set1_ps(-65504.0F);
  const __m256 exponent = _mm256_castsi256_ps(_mm256_set1_epi32(static_cast<int>(kFloatExponent)));
  const __m256 infinity = exponent;  // the same bits
  __m256 bad = _mm256_setzero_ps();
  const std::size_t whole = count - count % 8;
  for (std::size_t i = 0; i < whole; i += 8) {
    const __m256 x = _mm256_loadu_ps(values + i);
    // x & exponent is NaN-free: it equals infinity just where x is NaN or infinite.
    bad = _mm256_or_ps(bad, _mm256_cmp_ps(_mm256_and_ps(x, exponent), infinity, _CMP_EQ_OQ));
    const __m256 clamped = _mm256_min_ps(_mm256_max_ps(x, smallest), largest);
    const __m128i halves = _mm256_cvtps_ph(clamped, _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 2 * i), halves);
  }
  const bool finite = _mm256_movemask_ps(bad) == 0;
  return encode_portable(values + whole, count - whole, out + 2 * whole) && finite;
}

__attribute__((target("avx,f16c"))) bool decode_f16c(const unsigned char* in, std::size_t count,
                                                     float* out) {
  const __m128i exponent = _mm_set1_epi16(static_cast<short>(kHalfExponent));
  __m128i bad = _mm_setzero_si128();
  const std::size_t whole = count - count % 8;
  for (std::size_t i = 0; i < whole; i += 8) {
    const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + 2 * i));
    bad = _mm_or_si128(bad, _mm_cmpeq_epi16(_mm_and_si128(halves, exponent), exponent));
    _mm256_storeu_ps(out + i, _mm256_cvtph_ps(halves));
  }
  const bool finite = _mm_movemask_epi8(bad) == 0;
  return decode_portable(in + 2 * whole, count - whole, out + whole) && finite;
}

#endif

}  // namespace

bool Fp16Codec::has_instructions() {
#if defined(__x86_64__)
  // "f16c" itself is a name that only newer compilers know; "avx" asks the system as well.
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __builtin_cpu_supports("avx") && __get_cpuid(1, &a, &b, &c, &d) != 0 &&
         (c & (1U << 29)) != 0;
#else
  return false;
#endif
}

Fp16Codec::Fp16Codec(Fp16Path path)
    : use_instructions_(path == Fp16Path::kBest && has_instructions()) {}

std::size_t Fp16Codec::encoded_size(std::size_t floats) const {
  return 2 * floats;
}

bool Fp16Codec::encode(std::span<const float> values, std::span<std::byte> out) const {
  if (out.size() != encoded_size(values.size())) return false;
  auto* bytes = reinterpret_cast<unsigned char*>(out.data());
#if defined(__x86_64__)
  if (use_instructions_) return encode_f16c(values.data(), values.size(), bytes);
#endif
  return encode_portable(values.data(), values.size(), bytes);
}

bool Fp16Codec::decode(std::span<const std::byte> in, std::span<float> out) const {
  if (in.size() != encoded_size(out.size())) return false;
  const auto* bytes = reinterpret_cast<const unsigned char*>(in.data());
#if defined(__x86_64__)
  if (use_instructions_) return decode_f16c(bytes, out.size(), out.data());
#endif
  return decode_portable(bytes, out.size(), out.data());
}

}  // namespace stencil
