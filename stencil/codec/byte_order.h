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

/// The word at any address.
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

}  // namespace stencil
