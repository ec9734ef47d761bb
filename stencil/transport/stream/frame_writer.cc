#include "stencil/transport/stream/frame_writer.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>
#include <utility>

#include "stencil/transport/stream/tls.h"

namespace stencil {
namespace {

/// The parts of one call: `room` bytes of a few frames, but for the first `skip`.
class Parts {
 public:
  Parts(std::size_t skip, std::size_t room) : skip_(skip), room_(room) {}
  [[nodiscard]] bool full() const { return count_ + 3 > parts_.size() || room_ == 0; }
  void add(std::span<const std::byte> bytes) {
    const std::size_t skipped = std::min(skip_, bytes.size());
    skip_ -= skipped;
    bytes = bytes.subspan(skipped);
    bytes = bytes.first(std::min(room_, bytes.size()));
    room_ -= bytes.size();
    if (bytes.empty()) return;
    // sendmsg() only reads.
    parts_[count_++] = {const_cast<std::byte*>(bytes.data()), bytes.size()};
  }

  [[nodiscard]] std::span<iovec> all() { return std::span(parts_).first(count_); }

 private:
  std::array<iovec, 25> parts_{};
  std::size_t count_ = 0;
  std::size_t skip_, room_;
};

}  // namespace

void FrameWriter::push(Frame&& frame) {
  if (queue_.capacity() == 0) queue_.set_capacity(most_frames_ + kUrgentFrames);
  const auto place =
      place_in_line(queue_, first_done_ > 0 ? 1 : 0, frame,
                    [](const Queued& queued) -> const Frame& { return queued.frame; });
  queue_.insert(place, Queued{frame_lengths(frame), std::move(frame)});
}

FrameWriter::Outcome FrameWriter::flush(int socket, std::size_t piece) {
  return flush_by(
      [socket](std::span<iovec> parts, int flags) {
        msghdr message{};
        message.msg_iov = parts.data();
        message.msg_iovlen = parts.size();
        return ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT | flags);
      },
      piece);
}

FrameWriter::Outcome FrameWriter::flush(TlsChannel& channel, std::size_t piece) {
  const Outcome outcome = flush_by(
      [&channel](std::span<iovec> parts, int flags) { return channel.write(parts, flags); }, piece);
  if (outcome != Outcome::kAll || channel.flush() == 0) return outcome;
  return errno == EAGAIN ? Outcome::kSome : Outcome::kBroken;
}

template <typename Write>
FrameWriter::Outcome FrameWriter::flush_by(Write write, std::size_t piece) {
  while (!empty()) {
    Parts parts(greeting_left_ > 0 ? kGreeting.size() - greeting_left_ : first_done_, piece);
    if (greeting_left_ > 0) parts.add(kGreeting);
    for (std::size_t i = 0; i < queue_.size() && !parts.full(); ++i) {
      const Queued& queued = queue_[i];
      parts.add(queued.lengths);
      parts.add({queued.frame.header.data(), queued.frame.header.size()});
      parts.add(view(queued.frame.payload));
    }
    const ssize_t sent = write(parts.all(), piece == kWhole ? 0 : MSG_EOR);
    if (sent >= 0) {
      written(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      return Outcome::kSome;
    } else if (errno != EINTR) {
      return Outcome::kBroken;
    }
  }
  return Outcome::kAll;
}

void FrameWriter::written(std::size_t bytes) {
  const std::size_t greeting = std::min(bytes, greeting_left_);
  greeting_left_ -= greeting;
  first_done_ += bytes - greeting;
  while (!queue_.empty() && first_done_ >= queue_.front().size()) {
    first_done_ -= queue_.front().size();
    queue_.pop_front();
  }
}

}  // namespace stencil
