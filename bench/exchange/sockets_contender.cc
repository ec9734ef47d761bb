#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>

#include "bench/exchange/contender.h"
#include "bench/exchange/meeting.h"
#include "bench/exchange/stopwatch.h"

namespace fast::exchange_bench {
namespace {

class Socket {
 public:
  explicit Socket(int descriptor) : descriptor_(descriptor) {
    if (descriptor < 0) throw std::system_error(errno, std::generic_category(), "socket");
  }
  ~Socket() { ::close(descriptor_); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  [[nodiscard]] int get() const { return descriptor_; }

 private:
  int descriptor_;
};

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

/// Only the bytes of a sweep: on a ring of bare TCP connections each worker sends its model to the
/// next one, which sends as many bytes back. No frames, no checks, no arithmetic.
class Sockets final : public Contender {
 public:
  explicit Sockets(const Site& site)
      : site_(site), bytes_(site.floats * sizeof(float)), out_(bytes_), in_(bytes_) {}

  Measured measure() override {
    const int workers = site_.topology.size();
    const Socket listener(socket(AF_INET, SOCK_STREAM, 0));
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    demand(bind(listener.get(), generic, size), "bind");
    demand(listen(listener.get(), 1), "listen");
    demand(getsockname(listener.get(), generic, &size), "getsockname");
    leave_note(site_.meeting, "port-" + std::to_string(site_.rank),
               std::to_string(ntohs(address.sin_port)));

    const int next = (site_.rank + 1) % workers;
    sockaddr_in to = loopback(std::stoi(await_note(site_.meeting, "port-" + std::to_string(next))));
    const Socket asked(socket(AF_INET, SOCK_STREAM, 0));
    demand(connect(asked.get(), reinterpret_cast<sockaddr*>(&to), sizeof to), "connect");
    const Socket asking(accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK));
    prepare(asked.get());
    prepare(asking.get());
    const Measured out = measure_rounds(site_.rounds, [&] {
      exchange({asked.get(), asking.get()});
    });
    await_all(site_.meeting, "measured", site_.rank, workers);
    return out;
  }

 private:
  static void demand(int result, const char* what) {
    if (result != 0) throw std::system_error(errno, std::generic_category(), what);
  }
  static void prepare(int descriptor) {
    constexpr int kOn = 1, kBuffer = 4 << 20;
    demand(setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &kOn, sizeof kOn), "TCP_NODELAY");
    demand(setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &kBuffer, sizeof kBuffer), "SO_SNDBUF");
    demand(setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &kBuffer, sizeof kBuffer), "SO_RCVBUF");
  }

  /// On both connections at once: `bytes_` out, `bytes_` in.
  void exchange(std::array<int, 2> descriptors) {
    constexpr std::size_t kPiece = 256 << 10;
    struct Way {
      std::size_t sent = 0, received = 0;
    };
    std::array<Way, 2> ways;
    for (;;) {
      std::array<pollfd, 2> polled{};
      bool done = true;
      for (std::size_t i = 0; i < 2; ++i) {
        const bool sends = ways[i].sent < bytes_, receives = ways[i].received < bytes_;
        done &= !sends && !receives;
        polled[i] = {descriptors[i],
                     static_cast<short>((sends ? POLLOUT : 0) | (receives ? POLLIN : 0)), 0};
      }
      if (done) return;
      if (poll(polled.data(), polled.size(), 60'000) <= 0) {
        throw std::runtime_error("the other end of a bare socket was silent for 60 s");
      }
      for (std::size_t i = 0; i < 2; ++i) {
        Way& way = ways[i];
        if ((polled[i].revents & POLLOUT) != 0) {
          way.sent += moved(::send(descriptors[i], out_.data() + way.sent,
                                   std::min(kPiece, bytes_ - way.sent), MSG_DONTWAIT));
        }
        if ((polled[i].revents & POLLIN) != 0) {
          way.received += moved(::recv(descriptors[i], in_.data() + way.received,
                                       std::min(kPiece, bytes_ - way.received), MSG_DONTWAIT));
        }
      }
    }
  }

  static std::size_t moved(ssize_t result) {
    if (result > 0) return static_cast<std::size_t>(result);
    if (result < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
    throw std::runtime_error("the other end of a bare socket has closed it");
  }

  Site site_;
  std::size_t bytes_;
  std::vector<char> out_, in_;
};

}  // namespace

std::unique_ptr<Contender> make_sockets(const Site& site) {
  return std::make_unique<Sockets>(site);
}

}  // namespace fast::exchange_bench
