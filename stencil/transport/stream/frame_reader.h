#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "stencil/core/frame.h"
#include "stencil/core/payload_pool.h"

namespace stencil {

/// What each side says first. A stream that begins otherwise is no worker's.
inline constexpr std::array<std::byte, 8> kGreeting = {
    std::byte{'F'},  std::byte{'A'},  std::byte{'S'},  std::byte{'T'},
    std::byte{0x0d}, std::byte{0x0a}, std::byte{0x00}, std::byte{0x01}};

/// Before each frame: the lengths of header and payload, 4 bytes each, little-endian.
using FrameLengths = std::array<std::byte, 8>;
[[nodiscard]] FrameLengths frame_lengths(const Frame& frame);

/// Takes a stream apart into the greeting and frames; knows no socket. Payloads are received where
/// they will be used. Whatever comes, it holds one staging buffer and one frame.
class FrameReader {
 public:
  /// Lengths over these two break the stream, and nothing is reserved for them.
  FrameReader(std::size_t max_header, std::size_t max_payload, BucketPool& payloads);
  FrameReader(const FrameReader&) = delete;
  FrameReader& operator=(const FrameReader&) = delete;

  /// Where the next bytes belong, the first span before the second. Only after next() gave nothing.
  [[nodiscard]] std::array<std::span<std::byte>, 2> room();
  /// So many bytes have been put there.
  void filled(std::size_t bytes);

  /// The next whole frame; a frame without a payload has a null one.
  [[nodiscard]] std::optional<Frame> next();
  /// A payload has begun and is not whole: its memory is held.
  [[nodiscard]] bool in_payload() const { return !payload_rest_.empty(); }
  /// Bytes of that memory.
  [[nodiscard]] std::size_t held() const { return in_payload() ? payload_size_ : 0; }
  /// next() has found the greeting.
  [[nodiscard]] bool greeted() const { return greeted_; }
  /// The rest means nothing: no greeting of ours, or a length out of bounds.
  [[nodiscard]] bool broken() const { return part_ == Part::kBroken; }
  /// In place of the greeting a TLS handshake has come.
  [[nodiscard]] bool begins_with_tls() const;

 private:
  enum class Part : std::uint8_t { kGreeting, kLengths, kHeader, kPayload, kBroken };

  [[nodiscard]] std::span<const std::byte> staged() const {
    return std::span(staging_).subspan(begin_, end_ - begin_);
  }
  bool read_greeting();
  bool read_lengths();
  bool read_header();
  bool read_payload();

  const std::size_t max_header_, max_payload_;
  BucketPool& payloads_;
  Part part_ = Part::kGreeting;
  bool greeted_ = false;
  std::size_t header_size_ = 0, payload_size_ = 0;  ///< of the present frame
  Frame frame_;
  std::span<std::byte> payload_rest_;  ///< of frame_.payload, still to come
  std::array<std::byte, 4096> staging_;
  std::size_t begin_ = 0, end_ = 0;  ///< what has come and is not looked at yet
};

}  // namespace stencil
