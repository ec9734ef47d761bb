#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/wire/party.h"

namespace bench {
namespace {

using Length = std::uint64_t;

int checked(int result, const char* what) {
  if (result < 0) throw std::runtime_error(std::string("raw sockets: ") + what);
  return result;
}

int meet(const Meeting& meeting) {
  const int socket = checked(::socket(AF_INET, SOCK_STREAM, 0), "socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (!meeting.first) {
    address.sin_port = static_cast<in_port_t>(std::stoi(meeting.ask()));
    checked(::connect(socket, reinterpret_cast<sockaddr*>(&address), size), "connect");
    return socket;
  }
  checked(::bind(socket, reinterpret_cast<sockaddr*>(&address), size), "bind");
  checked(::listen(socket, 1), "listen");
  checked(::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size), "getsockname");
  meeting.tell(std::to_string(address.sin_port));
  const int accepted = checked(::accept(socket, nullptr, nullptr), "accept");
  ::close(socket);
  return accepted;
}

class RawParty final : public Party {
 public:
  RawParty(const Traffic& traffic, const Meeting& meeting)
      : traffic_(traffic), socket_(meet(meeting)), taken_(traffic.bucket) {
    const int yes = 1;
    ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    const int unsent = 32 << 10;  // as the product for its largest buckets
    ::setsockopt(socket_, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent, sizeof unsent);
    checked(::fcntl(socket_, F_SETFL, O_NONBLOCK), "fcntl");
  }
  ~RawParty() override { ::close(socket_); }

  void run(std::uint64_t passes) override {
    for (std::uint64_t pass = 0; pass < passes; ++pass) {
      target_ += 2 * traffic_.buckets();
      while (sent_ < target_ || received_ < target_) {
        pollfd waiting{socket_, 0, 0};
        waiting.events = static_cast<short>((sent_ < target_ ? POLLOUT : 0) |
                                            (received_ < target_ ? POLLIN : 0));
        checked(::poll(&waiting, 1, 30'000) - 1, "nothing for 30 s");
        if ((waiting.revents & ~POLLOUT) != 0) receive();
        if ((waiting.revents & POLLOUT) != 0) send();
      }
    }
  }

 private:
  void send() {
    const std::span<const std::byte> payload = traffic_.at(sent_);
    Length length = payload.size();
    std::array<iovec, 2> parts{};
    std::size_t count = 0;
    if (out_ < sizeof length)
      parts[count++] = {reinterpret_cast<char*>(&length) + out_, sizeof length - out_};
    const std::size_t done = out_ - std::min(out_, sizeof length);
    const std::size_t piece = std::min<std::size_t>(payload.size() - done, 64 << 10);
    parts[count++] = {const_cast<std::byte*>(payload.data()) + done, piece};
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = count;
    const ssize_t size = ::sendmsg(socket_, &message, MSG_EOR | MSG_NOSIGNAL);
    if (size < 0) return fail_unless_busy();
    out_ += static_cast<std::size_t>(size);
    if (out_ < sizeof length + payload.size()) return;
    out_ = 0;
    ++sent_;
  }

  void receive() {
    std::byte* into = nullptr;
    std::size_t room = 0;
    if (in_ < sizeof length_) {
      into = reinterpret_cast<std::byte*>(&length_) + in_;
      room = sizeof length_ - in_;
    } else {
      into = taken_.data() + (in_ - sizeof length_);
      room = sizeof length_ + length_ - in_;
    }
    const ssize_t size = ::recv(socket_, into, room, 0);
    if (size < 0) return fail_unless_busy();
    if (size == 0) throw std::runtime_error("raw sockets: the other end is gone");
    in_ += static_cast<std::size_t>(size);
    if (in_ == sizeof length_ && length_ > taken_.size())
      throw std::runtime_error("raw sockets: a bucket too large");
    if (in_ < sizeof length_ || in_ < sizeof length_ + length_) return;
    in_ = 0;
    ++received_;
  }

  static void fail_unless_busy() {
    if (errno != EAGAIN && errno != EINTR) throw std::runtime_error("raw sockets: broken");
  }

  Traffic traffic_;
  int socket_;
  std::vector<std::byte> taken_;
  Length length_ = 0;
  std::size_t out_ = 0, in_ = 0;  ///< bytes of the present bucket, its length included
  std::uint64_t sent_ = 0, received_ = 0, target_ = 0;
};

}  // namespace

std::unique_ptr<Party> make_raw_party(const Traffic& traffic, const Meeting& meeting) {
  return std::make_unique<RawParty>(traffic, meeting);
}

}  // namespace bench
