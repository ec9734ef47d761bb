#include "stencil/transport/stream/frame_reader.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

namespace stencil {
namespace {

void put(std::span<std::byte, 4> bytes, std::size_t value) {
  for (std::byte& byte : bytes) {
    byte = static_cast<std::byte>(value & 0xFF);
    value >>= 8;
  }
}

std::size_t get(std::span<const std::byte, 4> bytes) {
  std::size_t value = 0;
  for (std::size_t i = bytes.size(); i > 0; --i)
    value = value << 8 | std::to_integer<std::size_t>(bytes[i - 1]);
  return value;
}

}  // namespace

FrameLengths frame_lengths(const Frame& frame) {
  FrameLengths lengths;
  put(std::span(lengths).first<4>(), frame.header.size());
  put(std::span(lengths).last<4>(), view(frame.payload).size());
  return lengths;
}

FrameReader::FrameReader(std::size_t max_header, std::size_t max_payload, BucketPool& payloads)
    : max_header_(max_header), max_payload_(max_payload), payloads_(payloads) {}

std::array<std::span<std::byte>, 2> FrameReader::room() {
  // Fewer bytes than lengths or greeting have.
  std::memmove(staging_.data(), staging_.data() + begin_, end_ - begin_);
  end_ -= std::exchange(begin_, 0);
  return {payload_rest_, std::span(staging_).subspan(end_)};
}

void FrameReader::filled(std::size_t bytes) {
  const std::size_t direct = std::min(bytes, payload_rest_.size());
  payload_rest_ = payload_rest_.subspan(direct);
  end_ += bytes - direct;
}

bool FrameReader::read_greeting() {
  const std::size_t size = std::min(staged().size(), kGreeting.size());
  if (!std::equal(kGreeting.begin(), kGreeting.begin() + size, staged().begin())) {
    part_ = Part::kBroken;
  } else if (size == kGreeting.size()) {
    begin_ += size;
    part_ = Part::kLengths;
    greeted_ = true;
  }
  return greeted_;
}

bool FrameReader::begins_with_tls() const {
  return broken() && !greeted_ && staged().size() >= 2 && staged()[0] == std::byte{0x16} &&
         staged()[1] == std::byte{0x03};
}

std::optional<Frame> FrameReader::next() {
  if (part_ == Part::kBroken) return std::nullopt;
  if (part_ == Part::kGreeting && !read_greeting()) return std::nullopt;
  if (part_ == Part::kLengths && !read_lengths()) return std::nullopt;
  if (part_ == Part::kHeader && !read_header()) return std::nullopt;
  if (!read_payload()) return std::nullopt;
  part_ = Part::kLengths;
  std::optional<Frame> frame(std::move(frame_));
  // A small_vector whose memory was taken, as that of a long header is, has no room of its own any
  // more: assigned to, it would allocate for each header to come.
  std::destroy_at(&frame_);
  std::construct_at(&frame_);
  return frame;
}

bool FrameReader::read_lengths() {
  if (staged().size() < sizeof(FrameLengths)) return false;
  header_size_ = get(staged().first<4>());
  payload_size_ = get(staged().subspan<4, 4>());
  begin_ += sizeof(FrameLengths);
  part_ =
      header_size_ <= max_header_ && payload_size_ <= max_payload_ ? Part::kHeader : Part::kBroken;
  return part_ == Part::kHeader;
}

bool FrameReader::read_header() {
  const auto bytes = staged().first(std::min(staged().size(), header_size_ - frame_.header.size()));
  frame_.header.insert(frame_.header.end(), bytes.begin(), bytes.end());
  begin_ += bytes.size();
  if (frame_.header.size() < header_size_) return false;
  part_ = Part::kPayload;
  if (payload_size_ == 0) return true;
  payload_rest_ = payloads_.give(frame_.payload, payload_size_, max_payload_);
  return true;
}

bool FrameReader::read_payload() {
  const auto bytes = staged().first(std::min(staged().size(), payload_rest_.size()));
  std::ranges::copy(bytes, payload_rest_.begin());
  payload_rest_ = payload_rest_.subspan(bytes.size());
  begin_ += bytes.size();
  return payload_rest_.empty();
}

}  // namespace stencil
