#include "stencil/transport/stream/connection.h"

#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

namespace stencil {
namespace {

// An urgent frame waits for the rest of the bucket that is being written, and for what the system
// has taken and not sent: so many bytes, and a piece of that bucket.
int unsent_bytes(const TransportOptions& options) {
  return static_cast<int>(std::clamp<std::size_t>(options.max_frame_bytes / 2, 8 << 10, 32 << 10));
}
/// TCP puts at most some 64,000 bytes into a packet (65,483 over loopback), and starts none that
/// holds two pieces: of 64 KiB each, every second packet would hold a few bytes. A bucket of 256
/// KiB and its header take five of these, as many as of 64 KiB.
constexpr std::size_t kLargestPiece = 52 << 10;
/// The largest frame that is written as a whole.
constexpr std::size_t kSmallFrame = 128 << 10;
/// Frames taken at a time of one that we leave: it may have more without end.
constexpr int kMostDiscarded = 64;
/// Over fast links small buckets are written as a whole, which takes fewer calls.
std::size_t largest_piece(const TransportOptions& options) {
  return options.max_frame_bytes > kSmallFrame ? kLargestPiece : FrameWriter::kWhole;
}
/// What a thin link, of up to some 130 Mbit/s, carries in a millisecond: the system then holds
/// little more than it needs. Nothing for other links.
std::optional<std::size_t> piece_of_thin_link(int socket) {
  tcp_info info{};
  socklen_t size = sizeof info;
  constexpr std::size_t kNeeded = offsetof(tcp_info, tcpi_delivery_rate) + sizeof(__u64);
  if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 || size < kNeeded ||
      info.tcpi_delivery_rate == 0)
    return std::nullopt;
  const std::size_t carried = info.tcpi_delivery_rate / 1000;
  if (carried > (16 << 10)) return std::nullopt;
  return std::max<std::size_t>(carried, 8 << 10);
}
/// When the other end does not acknowledge, or is silent and does not answer probes.
constexpr int kSilenceMilliseconds = 30'000;

void set(int socket, int level, int option, int value) {
  ::setsockopt(socket, level, option, &value, sizeof value);
}

Address name(int socket, int (*ask)(int, sockaddr*, socklen_t*)) {
  Address address;
  address.size = sizeof address.storage;
  if (ask(socket, reinterpret_cast<sockaddr*>(&address.storage), &address.size) != 0)
    address.size = 0;
  return address;
}

/// Dialling a free port of this host again and again can, by chance, connect a socket to itself.
bool is_connected_to_itself(int socket) {
  const Address here = name(socket, ::getsockname), there = name(socket, ::getpeername);
  return here.storage.ss_family != AF_UNIX && here.size == there.size &&
         std::memcmp(&here.storage, &there.storage, here.size) == 0;
}

}  // namespace

Connection::Connection(Descriptor&& socket, State state, const TransportOptions& options,
                       BucketPool& payloads, std::unique_ptr<TlsChannel> tls)
    : socket_(std::move(socket)),
      state_(state),
      tls_(std::move(tls)),
      reader_(kMaxHeaderBytes, options.max_frame_bytes, payloads),
      writer_(std::max<std::size_t>(options.queue_frames, 1)),
      largest_piece_(largest_piece(options)),
      piece_(largest_piece_) {
  // On a local socket this fails and is not needed.
  set(socket_.get(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, unsent_bytes(options));
  if (state_ == State::kOpen) connected();
}

void Connection::connected() {
  const int s = socket_.get();
  if (is_connected_to_itself(s)) return end();
  // On a local socket these fail, too.
  set(s, IPPROTO_TCP, TCP_NODELAY, 1);
  set(s, IPPROTO_TCP, TCP_USER_TIMEOUT, kSilenceMilliseconds);
  set(s, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(s, IPPROTO_TCP, TCP_KEEPIDLE, 10);
  set(s, IPPROTO_TCP, TCP_KEEPINTVL, 10);
  set(s, IPPROTO_TCP, TCP_KEEPCNT, 2);
  if (!tls_) return open();
  state_ = State::kProving;
  writable_ = true;
}

void Connection::open() {
  state_ = State::kOpen;
  writable_ = true;
  flush();
}

bool Connection::prove() {
  if (state_ != State::kProving) return false;
  readable_ = false;
  const TlsChannel::Handshake outcome = tls_->shake_hands();
  writable_ = !tls_->unsent();
  if (outcome == TlsChannel::Handshake::kUnderWay) return false;
  if (outcome == TlsChannel::Handshake::kFailed) {
    end();
  } else {
    readable_ = true;  // what has come with the proof may have been read already
    open();
  }
  return true;
}

bool Connection::on_writable() {
  if (state_ == State::kConnecting) {
    int error = 0;
    socklen_t size = sizeof error;
    const int failed = ::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    failed != 0 || error != 0 ? end() : connected();
    return false;
  }
  writable_ = state_ != State::kEnded;
  flush();
  return refused_ && !writer_.full() && std::exchange(refused_, false);
}

std::optional<Frame> Connection::receive() {
  more_ = false;
  for (int discarded = 0; state_ == State::kOpen;) {
    if (std::optional<Frame> frame = reader_.next()) {
      if (!leaving_) return frame;
      more_ = ++discarded == kMostDiscarded;
      if (more_) return std::nullopt;
      continue;
    }
    if (reader_.broken()) {
      end();
    } else if (!read_more()) {
      break;
    }
  }
  return std::nullopt;
}

bool Connection::read_more() {
  if (!readable_) return false;
  const auto room = reader_.room();
  std::array<iovec, 2> parts{};
  int count = 0;
  std::size_t asked = 0;
  for (const auto& span : room) {
    if (span.empty()) continue;
    parts[static_cast<std::size_t>(count++)] = {span.data(), span.size()};
    asked += span.size();
  }
  const ssize_t size = tls_ ? tls_->read(std::span(parts).first(static_cast<std::size_t>(count)))
                            : ::readv(socket_.get(), parts.data(), count);
  if (size > 0) {
    reader_.filled(static_cast<std::size_t>(size));
    // Of less than was asked for there is no more: what comes next is waited for.
    readable_ = tls_ || static_cast<std::size_t>(size) == asked;
    return true;
  }
  if (size < 0 && errno == EINTR) return true;
  readable_ = false;
  if (size == 0 || errno != EAGAIN) end();
  return false;
}

SendStatus Connection::send(Frame&& frame) {
  if (state_ != State::kOpen || write_broken_ || leaving_) return SendStatus::kDown;
  if (writer_.full(frame.urgent)) {
    refused_ = true;
    return SendStatus::kFull;
  }
  writer_.push(std::move(frame));
  frame = Frame{};
  flush();
  return SendStatus::kSent;
}

void Connection::flush() {
  if (state_ != State::kOpen || !writable_ || write_broken_) return;
  const FrameWriter::Outcome outcome =
      tls_ ? writer_.flush(*tls_, piece_) : writer_.flush(socket_.get(), piece_);
  writable_ = outcome == FrameWriter::Outcome::kAll;
  if (outcome == FrameWriter::Outcome::kSome && ++stalls_ % 16 == 1)
    piece_ = piece_of_thin_link(socket_.get()).value_or(largest_piece_);
  if (outcome == FrameWriter::Outcome::kBroken) {
    // What has arrived is still to be read; after it the end.
    write_broken_ = readable_ = true;
    ::shutdown(socket_.get(), SHUT_RDWR);
  } else if (leaving_ && outcome == FrameWriter::Outcome::kAll && !std::exchange(shut_, true)) {
    ::shutdown(socket_.get(), SHUT_WR);
  }
}

void Connection::leave() {
  leaving_ = true;
  if (state_ != State::kOpen) return end();
  flush();
}

bool Connection::may_close() const {
  if (state_ == State::kEnded || write_broken_) return true;
  int unacknowledged = 0;
  // A local socket's bytes are with the other end already.
  const bool local = ::ioctl(socket_.get(), SIOCOUTQ, &unacknowledged) != 0 ||
                     name(socket_.get(), ::getsockname).storage.ss_family == AF_UNIX;
  return shut_ && (local || unacknowledged <= 1);  // one for the end itself
}

void Connection::end() {
  state_ = State::kEnded;
  readable_ = writable_ = false;
}

}  // namespace stencil
