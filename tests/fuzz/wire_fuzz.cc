// Input: two bytes, little-endian, for the length of the header (limited to the input's), then the
// header, then the payload. A second frame of the same bytes gets the right size and checksum, to
// get past these checks.
//
// Seeds, one for each kind of message: tests/fuzz/corpus/wire, made by wire_corpus.cc.

#include <xxhash.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "stencil/wire/wire.h"

namespace {

void append(stencil::HeaderBytes& header, std::uint8_t tag_low, std::uint8_t tag_high) {
  header.push_back(std::byte{tag_low});
  header.push_back(std::byte{tag_high});
}

/// An accepted message must be in range, and must be unchanged by encoding and decoding it again.
void check(const stencil::Frame& frame, stencil::Integrity link) {
  stencil::Result<stencil::Message> result = stencil::decode_frame(frame, link);
  if (!result.ok()) return;
  const stencil::Message& first = *result;
  if (first.header.from < 0) std::abort();
  if (const auto* reply = first.as<stencil::Reply>()) {
    if (reply->divisor != 0 && reply->divisor != 2 && reply->divisor != 3) std::abort();
  }
  const stencil::Frame again = stencil::encode_frame(first, link);
  stencil::Result<stencil::Message> second = stencil::decode_frame(again, link);
  if (!second.ok() || stencil::encode_frame(*second, link).header != again.header) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const auto* bytes = reinterpret_cast<const std::byte*>(data) + 2;
  size -= 2;
  const std::size_t asked = data[0] | static_cast<std::size_t>(data[1]) << 8;
  const std::size_t header_size = asked < size ? asked : size;
  stencil::Frame frame;
  frame.header.assign(bytes, bytes + header_size);
  if (size > header_size)
    frame.payload = stencil::Payload(stencil::Bytes(bytes + header_size, bytes + size));
  check(frame, stencil::Integrity::kChecksum);
  check(frame, stencil::Integrity::kProven);

  // Fields 16 (varint) and 17 (fixed64); the last of doubled fields counts.
  const auto payload = stencil::view(frame.payload);
  append(frame.header, 0x80, 0x01);
  std::uint64_t rest = payload.size();
  for (; rest >= 0x80; rest >>= 7) frame.header.push_back(static_cast<std::byte>(rest | 0x80));
  frame.header.push_back(static_cast<std::byte>(rest));
  append(frame.header, 0x89, 0x01);
  const std::uint64_t sum = payload.empty() ? 0 : XXH3_64bits(payload.data(), payload.size());
  for (int shift = 0; shift < 64; shift += 8)
    frame.header.push_back(static_cast<std::byte>(sum >> shift));
  check(frame, stencil::Integrity::kChecksum);
  return 0;
}
