#pragma once

#include <zmq.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stencil/core/frame.h"
#include "stencil/core/payload_pool.h"
#include "stencil/core/types.h"
#include "stencil/transport/factory.h"

namespace stencil {

/// libzmq's reason for the last failure, as a text.
[[nodiscard]] std::string zmq_error_text();

struct ZmqContextDeleter {
  void operator()(void* context) const { zmq_ctx_term(context); }
};
struct ZmqSocketDeleter {
  void operator()(void* socket) const { zmq_close(socket); }
};
using ZmqContext = std::unique_ptr<void, ZmqContextDeleter>;
using ZmqSocket = std::unique_ptr<void, ZmqSocketDeleter>;

/// One ZeroMQ message part; closed on destruction.
class ZmqPart {
 public:
  ZmqPart() { zmq_msg_init(&message_); }
  explicit ZmqPart(std::span<const std::byte> copied);
  /// Holds a share of the payload until libzmq has sent it, in its thread: no copy, no allocation
  /// of ours.
  explicit ZmqPart(const Payload& shared);
  ~ZmqPart() { zmq_msg_close(&message_); }
  ZmqPart(const ZmqPart&) = delete;
  ZmqPart& operator=(const ZmqPart&) = delete;

  [[nodiscard]] bool receive(void* socket);  ///< false: nothing there
  [[nodiscard]] bool send(void* socket, bool more);
  [[nodiscard]] bool more() const { return zmq_msg_more(&message_) != 0; }
  [[nodiscard]] std::size_t size() const { return zmq_msg_size(&message_); }
  [[nodiscard]] const std::byte* data();
  /// The connection's descriptor: names it until it is closed. -1 where unknown.
  [[nodiscard]] int connection() { return zmq_msg_get(&message_, ZMQ_SRCFD); }

 private:
  friend class ZmqPayload;
  zmq_msg_t message_;
};

/// A payload where libzmq has put it, for as long as somebody holds it.
class ZmqPayload final : public PooledMemory {
 public:
  ZmqPayload() { zmq_msg_init(&message_); }
  ~ZmqPayload() override { zmq_msg_close(&message_); }
  void take(ZmqPart& part);

 private:
  void empty() override;
  zmq_msg_t message_;
};
using ZmqPayloads = PayloadPool<ZmqPayload>;

/// A socket with every option that matters set from `options`. Throws ConfigError.
[[nodiscard]] ZmqSocket make_zmq_socket(void* context, int type, const TransportOptions& options,
                                        std::string_view endpoint);

/// The descriptor that becomes readable when the socket may have something.
[[nodiscard]] int zmq_descriptor(void* socket);

/// Throws ConfigError for a scheme other than tcp and ipc, and for a port that is none: libzmq
/// takes 99999 for 34463.
void check_zmq_endpoint(const std::string& endpoint, bool dialling);

/// Binds; returns an endpoint that others can dial (a wildcard host becomes this host's name).
/// Throws NetworkError naming the endpoint and the cause.
[[nodiscard]] std::string bind_zmq_socket(void* socket, const std::string& endpoint);

/// Everything up to the end of the message at hand; nothing where none is waiting.
struct ZmqMessage {
  std::string sender;  ///< routing id, from a ROUTER only: short enough for no allocation
  int connection = -1;
  std::optional<Frame> frame;  ///< nothing when it was not header and payload
};
[[nodiscard]] std::optional<ZmqMessage> receive_zmq_message(void* socket, bool from_router,
                                                            ZmqPayloads& payloads);

}  // namespace stencil
