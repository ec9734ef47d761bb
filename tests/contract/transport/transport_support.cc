#include <cstring>

#include "stencil/core/random.h"
#include "tests/contract/transport/transport_contract.h"

namespace stencil::contract {

using std::chrono::steady_clock;

std::unique_ptr<Transport> TransportContract::listener(TransportOptions options) {
  options.loop = &loop_;
  options.listen = world_->any_endpoint();
  return world_->make(options);
}

std::unique_ptr<Transport> TransportContract::listener_at(const std::string& endpoint) {
  return world_->make({.loop = &loop_, .listen = endpoint});
}

std::unique_ptr<Transport> TransportContract::dialler(TransportOptions options) {
  options.loop = &loop_;
  options.listen.clear();
  options.reconnect_min = std::chrono::milliseconds(5);
  options.reconnect_max = std::chrono::milliseconds(50);
  return world_->make(options);
}

LinkId TransportContract::connect(Transport& client, Transport& server) {
  return connect(client, server, world_->address(server.endpoint()));
}

LinkId TransportContract::connect(Transport& client, Transport& server,
                                  const PeerAddress& address) {
  const LinkId link = client.dial(address);
  EXPECT_EQ(expect_event(client, LinkEvent::kUp, &server).link, link);
  return link;
}

std::unique_ptr<Transport> TransportTest::make(TransportOptions options) {
  options.loop = &loop_;
  return make_transport(options);
}

std::optional<Received> TransportTest::next_event(Transport& transport, Transport* other) {
  const auto deadline = steady_clock::now() + kDeadline;
  do {
    while (other != nullptr && other->receive()) {
    }
    if (std::optional<Received> received = transport.receive()) return received;
  } while (wait(deadline));
  return std::nullopt;
}

Received TransportTest::expect_event(Transport& transport, LinkEvent event, Transport* other) {
  while (std::optional<Received> received = next_event(transport, other)) {
    if (received->event == event) return *std::move(received);
  }
  ADD_FAILURE() << "no event of kind " << static_cast<int>(event) << " in time";
  return {};
}

Received TransportTest::expect_frame(Transport& transport, Transport* other) {
  return expect_event(transport, LinkEvent::kFrame, other);
}

void TransportTest::send_in_time(Transport& transport, LinkId link, Frame frame,
                                 std::vector<Received>* meanwhile) {
  const auto deadline = steady_clock::now() + kDeadline;
  while (transport.send(link, std::move(frame)) != SendStatus::kSent) {
    ASSERT_FALSE(frame.header.empty()) << "a frame that was not accepted must be left alone";
    bool progress = false;
    while (std::optional<Received> received = transport.receive()) {
      progress = true;
      if (meanwhile != nullptr) meanwhile->push_back(*std::move(received));
    }
    ASSERT_TRUE(progress || wait(deadline)) << "not accepted in time";
  }
  EXPECT_TRUE(frame.header.empty() && !frame.payload) << "an accepted frame is moved from";
}

Frame numbered_frame(std::uint64_t number, std::size_t payload_bytes) {
  Frame frame;
  frame.header.resize(sizeof number);
  std::memcpy(frame.header.data(), &number, sizeof number);
  if (payload_bytes == 0) return frame;
  Bytes bytes(payload_bytes);
  Random random(number);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.next());
  frame.payload = Payload(std::move(bytes));
  return frame;
}

std::uint64_t number_of(const Frame& frame) {
  std::uint64_t number = ~0ULL;
  if (frame.header.size() == sizeof number)
    std::memcpy(&number, frame.header.data(), sizeof number);
  return number;
}

void expect_numbered(const Frame& frame, std::uint64_t number, std::size_t payload_bytes) {
  const Frame expected = numbered_frame(number, payload_bytes);
  EXPECT_EQ(number_of(frame), number);
  const auto got = view(frame.payload), want = view(expected.payload);
  ASSERT_EQ(got.size(), want.size());
  EXPECT_TRUE(std::equal(got.begin(), got.end(), want.begin())) << "payload of frame " << number;
}

}  // namespace stencil::contract
