// Input: one byte that chooses the sizes of the stream's pieces, then the stream. However the
// stream is cut, the same frames come out, and together they are the complete frames of the input.
//
// Seeds: tests/fuzz/corpus/stream.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "stencil/transport/stream/frame_reader.h"

namespace {

constexpr std::size_t kMaxHeader = 4096, kMaxPayload = 1 << 14;

struct Parsed {
  std::vector<std::byte> bytes;  ///< the greeting and the frames, as they are sent
  bool broken = false;
  bool operator==(const Parsed&) const = default;
};

/// Pieces of 1, 1 + step, 1 + 2 step .. bytes, over and over.
Parsed parse(std::span<const std::byte> stream, std::size_t step) {
  Parsed parsed;
  stencil::BucketPool payloads;
  stencil::FrameReader reader(kMaxHeader, kMaxPayload, payloads);
  const auto append = [&](std::span<const std::byte> bytes) {
    parsed.bytes.insert(parsed.bytes.end(), bytes.begin(), bytes.end());
  };
  for (std::size_t piece = 1; !stream.empty() && !reader.broken(); piece = piece % 5000 + step) {
    std::size_t left = std::min(piece, stream.size());
    std::size_t put = 0;
    for (const std::span<std::byte> room : reader.room()) {
      const std::size_t size = std::min(left, room.size());
      std::copy_n(stream.begin(), size, room.begin());
      stream = stream.subspan(size);
      left -= size;
      put += size;
    }
    if (put == 0) std::abort();
    reader.filled(put);
    while (auto frame = reader.next()) {
      if (parsed.bytes.empty()) append(stencil::kGreeting);
      append(stencil::frame_lengths(*frame));
      append({frame->header.data(), frame->header.size()});
      append(stencil::view(frame->payload));
      if (frame->header.size() > kMaxHeader || stencil::view(frame->payload).size() > kMaxPayload)
        std::abort();
    }
  }
  parsed.broken = reader.broken();
  return parsed;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::span stream(reinterpret_cast<const std::byte*>(data) + 1, size - 1);
  const Parsed whole = parse(stream, 4999), cut = parse(stream, data[0]);
  if (data[0] > 0 && whole != cut) std::abort();
  if (whole.bytes.size() > stream.size() ||
      !std::equal(whole.bytes.begin(), whole.bytes.end(), stream.begin()))
    std::abort();
  return 0;
}
