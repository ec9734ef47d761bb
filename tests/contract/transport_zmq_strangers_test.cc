#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zmq.h>

#include <fstream>

#include "contract/transport_contract.h"
#include "stencil/core/random.h"

namespace stencil::contract {
namespace {

/// A plain TCP connection to a transport's port.
class RawConnection {
 public:
  explicit RawConnection(const std::string& endpoint) {
    descriptor_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const auto port = std::stoi(endpoint.substr(endpoint.rfind(':') + 1));
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    EXPECT_EQ(::connect(descriptor_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  ~RawConnection() { ::close(descriptor_); }
  RawConnection(const RawConnection&) = delete;
  RawConnection& operator=(const RawConnection&) = delete;

  /// The other side may hang up in the middle.
  void write(const std::string& bytes) const {
    (void)!::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }

 private:
  int descriptor_;
};

/// ZMTP 3.0: greeting with the NULL mechanism, and the READY command of a DEALER.
std::string greeting() {
  std::string bytes = std::string("\xff", 1) + std::string(8, '\0') + "\x7f" + "\x03" +
                      std::string(1, '\0') + "NULL" + std::string(16, '\0') + std::string(32, '\0');
  EXPECT_EQ(bytes.size(), 64U);
  return bytes;
}
std::string ready() {
  const std::string body = std::string("\x05") + "READY" + "\x0b" + "Socket-Type" +
                           std::string("\0\0\0\x06", 4) + "DEALER" + "\x08" + "Identity" +
                           std::string(4, '\0');
  return std::string("\x04") + static_cast<char>(body.size()) + body;
}
std::string long_frame_header(std::uint64_t size) {
  std::string bytes = "\x02";
  for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(size >> shift & 0xFF);
  return bytes;
}

std::uint64_t peak_kilobytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmPeak:")) return std::stoull(line.substr(7));
  }
  return 0;
}

class Strangers : public ::testing::Test {
 protected:
  Strangers() {
    TransportOptions options;
    options.listen = "tcp://127.0.0.1:0";
    server_ = make_transport(options);
    friend_ = make_transport({});
    link_ = friend_->dial(server_->endpoint());
    expect_friend_is_heard();
  }

  void expect_friend_is_heard() {
    send_in_time(*friend_, link_, numbered_frame(++number_, 100));
    const Received received = expect_frame(*server_);
    expect_numbered(received.frame, number_, 100);
    if (friends_link_ == 0) friends_link_ = received.link;
    EXPECT_EQ(received.link, friends_link_);
  }

  /// Nothing but the count may tell of them.
  void expect_strangers(std::uint64_t count) {
    const auto deadline = std::chrono::steady_clock::now() + kDeadline;
    do {
      const auto received = server_->receive();
      EXPECT_FALSE(received.has_value());
      if (server_->stats().strangers >= count) break;
    } while (wait_readable({server_.get()}, deadline));
    EXPECT_EQ(server_->stats().strangers, count);
  }

  std::unique_ptr<Transport> server_, friend_;
  LinkId link_ = 0, friends_link_ = 0;
  std::uint64_t number_ = 0;
};

TEST_F(Strangers, GarbageIsCountedAndHarmsNobody) {
  const auto seed =
      static_cast<std::uint64_t>(::testing::UnitTest::GetInstance()->random_seed()) + 1;
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  std::string noise(100000, '\0');
  for (char& byte : noise) byte = static_cast<char>(random.next());
  noise[0] = '\xff';  // looks like the beginning of a greeting
  noise[9] = '\x7f';
  std::uint64_t count = 0;
  for (const std::string& bytes :
       {std::string("GET / HTTP/1.1\r\n\r\n"), std::string(), noise, greeting().substr(0, 11),
        greeting().substr(0, 40), greeting(), greeting() + ready().substr(0, 9),
        greeting() + ready(), greeting() + ready() + long_frame_header(100) + "half a frame"}) {
    { RawConnection(server_->endpoint()).write(bytes); }
    SCOPED_TRACE("stranger " + std::to_string(count));
    expect_strangers(++count);
    expect_friend_is_heard();
  }
}

TEST_F(Strangers, AFrameThatClaimsSixGigabytesReservesNothing) {
  const std::uint64_t before = peak_kilobytes();
  ASSERT_GT(before, 0U);
  const RawConnection stranger(server_->endpoint());
  stranger.write(greeting() + ready() + long_frame_header(6ULL << 30) + std::string(100, 'x'));
  expect_strangers(1);
  expect_friend_is_heard();
  EXPECT_LT(peak_kilobytes() - before, 1U << 20);
}

TEST_F(Strangers, MessagesOfAnotherShapeAreCountedOneByOne) {
  void* context = zmq_ctx_new();
  void* socket = zmq_socket(context, ZMQ_DEALER);
  ASSERT_EQ(zmq_connect(socket, server_->endpoint().c_str()), 0);
  const auto part = [socket](int flags) { EXPECT_GE(zmq_send(socket, "abc", 3, flags), 0); };
  part(0);
  expect_strangers(1);
  part(ZMQ_SNDMORE);
  part(ZMQ_SNDMORE);
  part(0);
  for (int i = 0; i < 50; ++i) part(i < 49 ? ZMQ_SNDMORE : 0);
  expect_strangers(3);
  expect_friend_is_heard();
  // With two parts it is a frame like any other: what it says is for the wire layer to judge.
  part(ZMQ_SNDMORE);
  part(0);
  const Received received = expect_frame(*server_);
  EXPECT_NE(received.link, friends_link_);
  EXPECT_EQ(received.frame.header.size(), 3U);
  zmq_close(socket);
  zmq_ctx_term(context);
  EXPECT_EQ(expect_event(*server_, LinkEvent::kDown).link, received.link);
  EXPECT_EQ(server_->stats().strangers, 3U);
}

TEST_F(Strangers, ManyShortConnectionsLeaveNothingBehind) {
  for (int i = 0; i < 500; ++i) {
    RawConnection(server_->endpoint()).write("x");
    if (i % 50 == 49) expect_friend_is_heard();
  }
  expect_strangers(500);
}

}  // namespace
}  // namespace stencil::contract
