#include "stencil/codec/places.h"

#include <cstring>

namespace stencil {

PlaceWriter::PlaceWriter(Places places, unsigned char* out)
    : low_bits_(places.low_bits()), low_(out), rest_(out + places.low_bytes()) {
  std::memset(out, 0, places.bytes());
}

bool well_formed(Places places, const unsigned char* in) {
  const unsigned char* const rest = in + places.low_bytes();
  const std::size_t bits = places.count * static_cast<std::size_t>(places.low_bits());
  if (bits % 8 != 0 && in[bits / 8] >> (bits % 8) != 0) return false;
  std::size_t set = 0;
  for (std::size_t i = 0; i < places.rest_bytes(); ++i) {
    set += static_cast<std::size_t>(std::popcount(rest[i]));
  }
  if (set != places.count) return false;
  PlaceReader reader(places, in);
  std::size_t least = 0;
  for (std::size_t j = 0; j < places.count; ++j) {
    const std::uint32_t place = reader.next();
    if (place < least || place >= places.limit) return false;
    least = std::size_t{place} + 1;
  }
  return true;
}

}  // namespace stencil
