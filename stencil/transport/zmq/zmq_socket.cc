#include "stencil/transport/zmq/zmq_socket.h"

#include <netdb.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <limits>

#include "stencil/core/error.h"

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace stencil {
namespace {

/// libzmq is not instrumented: ThreadSanitizer cannot see that it hands memory from thread to
/// thread in good order, so we say it.
void hand_over([[maybe_unused]] void* object) {
#if defined(__SANITIZE_THREAD__)
  __tsan_release(object);
#endif
}
void take_over([[maybe_unused]] void* object) {
#if defined(__SANITIZE_THREAD__)
  __tsan_acquire(object);
#endif
}

void release_payload(void*, void* holder) {
  take_over(holder);
  const Payload last = Payload::take_back(static_cast<PayloadMemory*>(holder));
}

int milliseconds(Duration duration) {
  const auto count = std::chrono::ceil<std::chrono::milliseconds>(duration).count();
  return static_cast<int>(std::clamp<std::int64_t>(count, 0, std::numeric_limits<int>::max()));
}

void set(void* socket, int option, const void* value, std::size_t size) {
  if (zmq_setsockopt(socket, option, value, size) != 0)
    throw InvariantError("ZeroMQ refuses option " + std::to_string(option) + ": " +
                         zmq_error_text());
}
void set(void* socket, int option, int value) {
  set(socket, option, &value, sizeof value);
}

/// "tcp://0.0.0.0:5555" means every interface and can be dialled from this machine alone.
std::string dialable(const std::string& bound) {
  for (const std::string_view wildcard : {"tcp://0.0.0.0:", "tcp://[::]:"}) {
    if (!bound.starts_with(wildcard)) continue;
    std::array<char, 256> name{};
    std::string host = "127.0.0.1";
    addrinfo* found = nullptr;
    if (::gethostname(name.data(), name.size() - 1) == 0 &&
        ::getaddrinfo(name.data(), nullptr, nullptr, &found) == 0) {
      host = name.data();
      ::freeaddrinfo(found);
    }
    return "tcp://" + host + ":" + bound.substr(wildcard.size());
  }
  return bound;
}

}  // namespace

std::string zmq_error_text() {
  return zmq_strerror(zmq_errno());
}

ZmqPart::ZmqPart(std::span<const std::byte> copied) {
  if (zmq_msg_init_size(&message_, copied.size()) != 0) throw std::bad_alloc();
  if (!copied.empty()) std::memcpy(zmq_msg_data(&message_), copied.data(), copied.size());
}

ZmqPart::ZmqPart(const Payload& shared) {
  if (view(shared).empty()) {
    zmq_msg_init(&message_);
    return;
  }
  auto* bytes = const_cast<std::byte*>(view(shared).data());  // libzmq only reads what it sends
  PayloadMemory* const holder = Payload(shared).hand_out();
  hand_over(holder);
  if (zmq_msg_init_data(&message_, bytes, view(shared).size(), release_payload, holder) != 0) {
    release_payload(nullptr, holder);
    throw std::bad_alloc();
  }
}

bool ZmqPart::receive(void* socket) {
  if (zmq_msg_recv(&message_, socket, ZMQ_DONTWAIT) < 0) return false;
  return true;
}

bool ZmqPart::send(void* socket, bool more) {
  return zmq_msg_send(&message_, socket, ZMQ_DONTWAIT | (more ? ZMQ_SNDMORE : 0)) >= 0;
}

const std::byte* ZmqPart::data() {
  return static_cast<const std::byte*>(zmq_msg_data(&message_));
}

void ZmqPayload::take(ZmqPart& part) {
  zmq_msg_move(&message_, &part.message_);
  bytes_ = {static_cast<const std::byte*>(zmq_msg_data(&message_)), zmq_msg_size(&message_)};
}

void ZmqPayload::empty() {
  zmq_msg_close(&message_);
  zmq_msg_init(&message_);
  bytes_ = {};
}

ZmqSocket make_zmq_socket(void* context, int type, const TransportOptions& options,
                          std::string_view endpoint) {
  ZmqSocket socket(zmq_socket(context, type));
  if (!socket)
    throw ConfigError("cannot make a ZeroMQ socket: " + zmq_error_text(),
                      "raise the limit of open files (ulimit -n)");
  void* s = socket.get();
  const int frames = static_cast<int>(std::clamp<std::size_t>(options.queue_frames, 1, 1 << 20));
  set(s, ZMQ_SNDHWM, frames);
  set(s, ZMQ_RCVHWM, frames);
  set(s, ZMQ_LINGER, milliseconds(options.linger));
  const std::int64_t largest =
      static_cast<std::int64_t>(std::max<std::size_t>(options.max_frame_bytes, 4096));
  set(s, ZMQ_MAXMSGSIZE, &largest, sizeof largest);
  set(s, ZMQ_RECONNECT_IVL, std::max(1, milliseconds(options.reconnect_min)));
  set(s, ZMQ_RECONNECT_IVL_MAX, std::max(1, milliseconds(options.reconnect_max)));
  set(s, ZMQ_CONNECT_TIMEOUT, 5'000);
  set(s, ZMQ_HANDSHAKE_IVL, 5'000);  // a stranger who connects and says nothing
  // A connection whose other end is gone without a word; slow ones are the engine's business.
  set(s, ZMQ_HEARTBEAT_IVL, 10'000);
  set(s, ZMQ_HEARTBEAT_TIMEOUT, 30'000);
  set(s, ZMQ_HEARTBEAT_TTL, 60'000);
  set(s, ZMQ_TCP_KEEPALIVE, 1);
  set(s, ZMQ_TCP_KEEPALIVE_IDLE, 30);
  set(s, ZMQ_TCP_KEEPALIVE_INTVL, 10);
  set(s, ZMQ_TCP_KEEPALIVE_CNT, 3);
  // Only for literal addresses: a name that resolves to both families would be tried by IPv6 alone.
  set(s, ZMQ_IPV6, endpoint.find('[') != std::string_view::npos ? 1 : 0);
  if (type == ZMQ_ROUTER) {
    set(s, ZMQ_ROUTER_MANDATORY, 1);
    set(s, ZMQ_ROUTER_HANDOVER, 0);
    set(s, ZMQ_BACKLOG, 256);
  } else {
    set(s, ZMQ_IMMEDIATE, 1);
  }
  return socket;
}

int zmq_descriptor(void* socket) {
  int descriptor = -1;
  std::size_t size = sizeof descriptor;
  if (zmq_getsockopt(socket, ZMQ_FD, &descriptor, &size) != 0)
    throw InvariantError("a ZeroMQ socket without a descriptor: " + zmq_error_text());
  return descriptor;
}

void check_zmq_endpoint(const std::string& endpoint, bool dialling) {
  const std::string cannot =
      std::string("cannot ") + (dialling ? "dial" : "listen on") + " '" + endpoint + "': ";
  if (endpoint.starts_with("ipc://") && endpoint.size() > 6) return;
  if (!endpoint.starts_with("tcp://"))
    throw ConfigError(cannot + "unknown scheme", "use tcp://HOST:PORT or ipc://PATH");
  const std::size_t colon = endpoint.rfind(':');
  const std::string_view port = std::string_view(endpoint).substr(colon + 1);
  if (!dialling && port == "*") return;
  int number = -1;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  const bool valid = colon > 6 && error == std::errc() && end == port.data() + port.size();
  if (!valid || number < (dialling ? 1 : 0) || number > 65535)
    throw ConfigError(cannot + "no valid port",
                      dialling ? "use tcp://HOST:PORT, with PORT 1 to 65535"
                               : "use tcp://HOST:PORT, with PORT 1 to 65535, or 0 for one handed "
                                 "out by the system");
}

std::string bind_zmq_socket(void* socket, const std::string& endpoint) {
  check_zmq_endpoint(endpoint, false);
  if (zmq_bind(socket, endpoint.c_str()) != 0) {
    const std::string cannot = "cannot listen on '" + endpoint + "': ";
    switch (zmq_errno()) {
      case EADDRINUSE:
        throw NetworkError(cannot + "port in use (" + zmq_error_text() + ")",
                           "choose another port, or 0 for one handed out by the system");
      case EADDRNOTAVAIL:
      case ENODEV:
        throw NetworkError(cannot + "no such interface or address here (" + zmq_error_text() + ")",
                           "use an address of this machine, or tcp://*:PORT for all of them");
      case EACCES:
        throw NetworkError(cannot + zmq_error_text(),
                           "choose a port from 1024 on, or a path that is writable");
      default:
        throw NetworkError(cannot + zmq_error_text(), "use tcp://HOST:PORT, with PORT 0 to 65535");
    }
  }
  std::array<char, 512> bound{};
  std::size_t size = bound.size();
  if (zmq_getsockopt(socket, ZMQ_LAST_ENDPOINT, bound.data(), &size) != 0)
    throw InvariantError("a bound ZeroMQ socket without an endpoint: " + zmq_error_text());
  return dialable(bound.data());
}

std::optional<ZmqMessage> receive_zmq_message(void* socket, bool from_router,
                                              ZmqPayloads& payloads) {
  ZmqMessage message;
  ZmqPart part;
  if (!part.receive(socket)) return std::nullopt;
  bool more = part.more();
  if (from_router) {
    message.connection = part.connection();
    message.sender.assign(reinterpret_cast<const char*>(part.data()), part.size());
    // The parts of a message arrive together: where one was promised it is there.
    if (!more || !part.receive(socket)) return message;
    more = part.more();
    if (message.connection < 0) message.connection = part.connection();
  }
  Frame frame;
  frame.header.assign(part.data(), part.data() + part.size());
  if (!more || !part.receive(socket)) return message;
  if (part.more()) {
    while (part.more() && part.receive(socket)) {
    }
    return message;
  }
  if (part.size() > 0) {
    ZmqPayload* const memory = payloads.take();
    memory->take(part);
    frame.payload = Payload(memory);
  }
  message.frame = std::move(frame);
  return message;
}

}  // namespace stencil
