#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "stencil/io/event_loop.h"
#include "stencil/transport/factory.h"
#include "tests/support/key_rings.h"

namespace stencil::contract {

/// No test waits longer than this for anything.
inline constexpr std::chrono::seconds kDeadline{20};

/// Transports on one loop, of the test's own thread.
class TransportTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::unique_ptr<Transport> make(TransportOptions options = {});

  /// Sleeps until some transport may have something; false past the deadline.
  bool wait(TimePoint deadline) { return loop_.wait(deadline); }

  /// The next event; nothing past the deadline. Lets `other` work whenever it wants to, as its own
  /// loop would (a transport may do all its work in its caller's calls); drops what `other`
  /// receives.
  std::optional<Received> next_event(Transport& transport, Transport* other = nullptr);
  /// Skips other events. Fails the test past the deadline.
  Received expect_event(Transport& transport, LinkEvent event, Transport* other = nullptr);
  Received expect_frame(Transport& transport, Transport* other = nullptr);

  /// Sends as soon as the link accepts the frame, and keeps what arrives meanwhile. Fails past the
  /// deadline.
  void send_in_time(Transport& transport, LinkId link, Frame frame,
                    std::vector<Received>* meanwhile = nullptr);

  EventLoop loop_;
};

/// One kind of transport under test: makes transports, and knows endpoints at which they can
/// listen.
class TransportWorld {
 public:
  virtual ~TransportWorld() = default;
  /// An endpoint at which nobody listens yet, kept free for this world.
  virtual std::string free_endpoint() = 0;
  /// Asks for an endpoint that the transport chooses by itself.
  virtual std::string any_endpoint() = 0;
  virtual std::unique_ptr<Transport> make(const TransportOptions& options) = 0;
  /// The address by which a listener of this world is dialled.
  virtual PeerAddress address(const std::string& endpoint) { return endpoint; }
};

struct TransportKind {
  std::string name;
  std::function<std::unique_ptr<TransportWorld>()> make_world;
};
inline void PrintTo(const TransportKind& kind, std::ostream* out) {
  *out << kind.name;
}

/// The contract of every transport; instantiated in a file of its own for each kind.
class TransportContract : public TransportTest,
                          public ::testing::WithParamInterface<TransportKind> {
 protected:
  std::unique_ptr<Transport> listener(TransportOptions options = {});
  std::unique_ptr<Transport> listener_at(const std::string& endpoint);
  std::unique_ptr<Transport> dialler(TransportOptions options = {});
  /// Dials the endpoint of `server` and waits for the link to be up; lets `server` work meanwhile.
  LinkId connect(Transport& client, Transport& server);
  LinkId connect(Transport& client, Transport& server, const PeerAddress& address);

  std::unique_ptr<TransportWorld> world_ = GetParam().make_world();
};

/// The additional contract of a transport that proves keys.
class KeyedTransportContract : public TransportContract {
 protected:
  KeyedTransportContract();
  /// Listens with rank 0's key.
  std::unique_ptr<Transport> server();
  /// Dials with the key of this pair.
  std::unique_ptr<Transport> client(std::uint8_t pair);

  /// Serves the events of both until `done`; returns false past the deadline.
  bool serve_until(Transport& a, Transport& b, const std::function<bool()>& done);

  /// Whether server() has counted a stranger and logged this cause.
  [[nodiscard]] bool refused(const Transport& server, const std::string& cause) const;

  test::Keys server_keys_, client_keys_;
  std::map<std::string, std::string> complaints_;  ///< of server(), by cause
};

/// A frame that is distinguishable from others, and the check that a frame is that one.
Frame numbered_frame(std::uint64_t number, std::size_t payload_bytes);
void expect_numbered(const Frame& frame, std::uint64_t number, std::size_t payload_bytes);
std::uint64_t number_of(const Frame& frame);

}  // namespace stencil::contract
