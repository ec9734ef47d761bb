#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace stencil {

/// Host order <-> little-endian, the order of the wire; nothing to do on most machines.
inline std::uint32_t little_endian(std::uint32_t word) {
  if constexpr (std::endian::native == std::endian::big) return __builtin_bswap32(word);
  return word;
}

inline std::uint16_t little_endian(std::uint16_t word) {
  if constexpr (std::endian::native == std::endian::big) return __builtin_bswap16(word);
  return word;
}

/// Loads a word from an address of any alignment.
template <typename Word>
Word load_little_endian(const unsigned char* from) {
  Word word;
  std::memcpy(&word, from, sizeof word);
  return little_endian(word);
}

template <typename Word>
void store_little_endian(Word word, unsigned char* to) {
  word = little_endian(word);
  std::memcpy(to, &word, sizeof word);
}

inline float load_float(const unsigned char* from) {
  return std::bit_cast<float>(load_little_endian<std::uint32_t>(from));
}

inline void store_float(float value, unsigned char* to) {
  store_little_endian(std::bit_cast<std::uint32_t>(value), to);
}

}  // namespace stencil
