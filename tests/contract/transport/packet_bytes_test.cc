// The longest packet in which a link carries what is sent: what the other end is told of it.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <string>

#include "stencil/transport/descriptors.h"
#include "tests/contract/transport/transport_contract.h"

namespace stencil::contract {
namespace {

constexpr int kPacket = 1200, kSegment = 1140;

int segment_of(const Descriptor& socket) {
  int segment = 0;
  socklen_t size = sizeof segment;
  EXPECT_EQ(::getsockopt(socket.get(), IPPROTO_TCP, TCP_MAXSEG, &segment, &size), 0);
  return segment;
}

class PacketBytes : public TransportTest {
 protected:
  /// What an end may send in a segment that dials a transport of this address.
  int segment_to(const std::string& listen, int packet_bytes) {
    TransportOptions options;
    options.listen = listen;
    options.packet_bytes = packet_bytes;
    const auto transport = make(options);
    const std::string endpoint = transport->endpoint();
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port =
        htons(static_cast<std::uint16_t>(std::stoi(endpoint.substr(endpoint.rfind(':') + 1))));
    const Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    return segment_of(socket);
  }
};

TEST_F(PacketBytes, WhoeverDialsSendsNoLongerOnes) {
  for (const std::string scheme : {"tcp://", "zmq://"}) {
    EXPECT_LE(segment_to(scheme + "127.0.0.1:0", kPacket), kSegment) << scheme;
    EXPECT_GT(segment_to(scheme + "127.0.0.1:0", TransportOptions{}.packet_bytes), kSegment)
        << scheme << ": without a bound";
  }
}

TEST_F(PacketBytes, WhoeverIsDialledSendsNoLongerOnes) {
  const Descriptor listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  socklen_t size = sizeof address;
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(listener.get(), 1), 0);
  ASSERT_EQ(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  TransportOptions options;
  options.packet_bytes = kPacket;
  const auto transport = make(options);
  (void)transport->dial("tcp://127.0.0.1:" + std::to_string(ntohs(address.sin_port)));
  pollfd dialled{.fd = listener.get(), .events = POLLIN, .revents = 0};
  ASSERT_EQ(::poll(&dialled, 1, 20'000), 1);
  const Descriptor accepted(::accept(listener.get(), nullptr, nullptr));
  EXPECT_LE(segment_of(accepted), kSegment);
}

}  // namespace
}  // namespace stencil::contract
