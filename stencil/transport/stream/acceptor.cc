#include "stencil/transport/stream/acceptor.h"

#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <utility>

namespace stencil {
namespace {

constexpr int kAcceptedAtOnce = 32;

std::size_t quarter_of_descriptors() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return SIZE_MAX;
  return std::max<std::size_t>(limit.rlim_cur / 4, 1);
}

}  // namespace

Acceptor::Acceptor(const TransportOptions& options, std::function<void()> waiting)
    : listener_(options.listen, kStreamSchemes, options.packet_bytes),
      newcomers_(loop_of(options), listener_.descriptor(), std::move(waiting)),
      most_strangers_(quarter_of_descriptors()) {
  wait();
}

bool Acceptor::accept(const std::function<void(Descriptor&&)>& welcome) {
  for (int i = 0; i < kAcceptedAtOnce; ++i) {
    const int socket =
        ::accept4(listener_.descriptor(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (socket >= 0) {
      welcome(Descriptor(socket));
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      return false;
    } else if (errno != EINTR && errno != ECONNABORTED) {
      break;
    }
  }
  wait();
  return true;
}

}  // namespace stencil
