// What passes between two ends, seen by one in the middle: when an end is started again, and when
// what was said once is said again.
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/contract/transport/transport_contract.h"
#include "tests/support/key_rings.h"
#include "tests/support/stream_bytes.h"

namespace stencil::contract {
namespace {

using ::fast::testing::RawConnection;

/// The names of the commands (ZMTP 3.1, ZeroMQ RFC 37) in what one end sends.
class Commands {
 public:
  /// Those that are complete now and were not before.
  std::vector<std::string> after(std::string_view bytes) {
    bytes_ += bytes;
    std::vector<std::string> names;
    while (const std::optional<std::string> body = next()) {
      if (!body->empty() && !traffic_) {
        names.push_back(body->substr(1, static_cast<unsigned char>(body->front())));
      }
      traffic_ = traffic_ || (!names.empty() && names.back() == "READY");
    }
    return names;
  }

 private:
  static constexpr std::size_t kGreeting = 64;
  static constexpr unsigned kLong = 2, kCommand = 4;

  /// The next command's body; an empty one where a message stands in its place.
  std::optional<std::string> next() {
    if (at_ == 0 && bytes_.size() >= kGreeting) at_ = kGreeting;
    if (at_ == 0 || bytes_.size() < at_ + 2) return std::nullopt;
    const auto flags = static_cast<unsigned char>(bytes_[at_]);
    const std::size_t width = (flags & kLong) != 0 ? 8 : 1;
    if (bytes_.size() < at_ + 1 + width) return std::nullopt;
    std::size_t size = 0;
    for (std::size_t i = 0; i < width; ++i) {
      size = size << 8 | static_cast<unsigned char>(bytes_[at_ + 1 + i]);
    }
    if (bytes_.size() < at_ + 1 + width + size) return std::nullopt;
    const std::string body = bytes_.substr(at_ + 1 + width, size);
    at_ += 1 + width + size;
    return (flags & kCommand) != 0 ? body : std::string();
  }

  std::string bytes_;
  std::size_t at_ = 0;
  bool traffic_ = false;
};

/// Stands before a server, whose port changes with its lives, and writes down what happens: "dial",
/// and the handshake's commands as they pass. Works in pump() alone.
class Relay {
 public:
  Relay() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(listener_, any, size), 0);
    EXPECT_EQ(::listen(listener_, 16), 0);
    EXPECT_EQ(::getsockname(listener_, any, &size), 0);
    endpoint_ = "zmq://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  }
  ~Relay() {
    for (const Pair& pair : pairs_) ::close(pair.near);
    ::close(listener_);
  }
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  [[nodiscard]] const std::string& endpoint() const { return endpoint_; }
  [[nodiscard]] const std::vector<std::string>& events() const { return events_; }
  /// All that has come from those who dialled since leads_to().
  [[nodiscard]] const std::string& heard() const { return heard_; }

  /// "": nobody is there, and whoever dials is hung up on. What happened until now is forgotten.
  void leads_to(const std::string& endpoint) {
    pump();
    server_ = endpoint;
    events_.clear();
    heard_.clear();
  }

  void pump() {
    for (int one = accept(); one >= 0; one = accept()) {
      events_.emplace_back("dial");
      if (server_.empty()) {
        ::close(one);
      } else {
        pairs_.push_back({one, std::make_unique<RawConnection>(server_), {}, {}});
      }
    }
    for (auto pair = pairs_.begin(); pair != pairs_.end();) {
      const auto it = pair++;
      const int near = it->near, far = it->far->descriptor();
      if (pass_on(near, far, it->from_near, &heard_) && pass_on(far, near, it->from_far)) continue;
      ::close(near);
      pairs_.erase(it);
    }
  }

 private:
  struct Pair {
    int near;
    std::unique_ptr<RawConnection> far;
    Commands from_near, from_far;
  };

  int accept() { return ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC); }

  /// False: one of the two ends has gone.
  bool pass_on(int from, int to, Commands& commands, std::string* kept = nullptr) {
    std::array<char, 1 << 16> bytes{};
    const ssize_t size = ::recv(from, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (size < 0) return errno == EAGAIN;
    if (size == 0) return false;
    const auto count = static_cast<std::size_t>(size);
    if (kept != nullptr) kept->append(bytes.data(), count);
    for (std::string& name : commands.after({bytes.data(), count})) {
      events_.push_back(std::move(name));
    }
    return ::send(to, bytes.data(), count, MSG_NOSIGNAL) == size;
  }

  int listener_;
  std::string endpoint_, server_, heard_;
  std::list<Pair> pairs_;
  std::vector<std::string> events_;
};

class ZmqRestart : public TransportTest, public ::testing::WithParamInterface<bool> {
 protected:
  /// A new life of rank 0, which listens.
  void start_server() {
    server_ = make(10, "zmq://127.0.0.1:0");
    relay_.leads_to(server_->endpoint());
  }
  /// A new life of rank 1, which dials.
  void start_client() {
    client_ = make(11, "");
    PeerAddress address = relay_.endpoint();
    if (GetParam()) address.key = test::KeyPair(10).open;
    link_ = client_->dial(address);
  }

  /// Lets all work until the client has had this event, and the relay has seen all before it.
  void await(LinkEvent event) {
    const auto deadline = std::chrono::steady_clock::now() + kDeadline;
    while (std::chrono::steady_clock::now() < deadline) {
      relay_.pump();
      while (server_ && server_->receive()) {
      }
      while (const auto received = client_->receive()) {
        if (received->event == event && received->link == link_) return;
      }
      (void)wait(std::chrono::steady_clock::now() + std::chrono::milliseconds(1));  // for the relay
    }
    FAIL() << "event " << static_cast<int>(event) << " did not come in time";
  }

  /// Lets all work until the relay has seen so many events: without keys an end is up when the
  /// other's READY has come, which may be before its own has passed the relay.
  void see(std::size_t count) {
    const auto deadline = std::chrono::steady_clock::now() + kDeadline;
    while (relay_.events().size() < count && std::chrono::steady_clock::now() < deadline) {
      relay_.pump();
      (void)client_->receive();
      if (server_) (void)server_->receive();
    }
  }

  /// Both are there: from now on one dial and one handshake make the link. Each command is sent
  /// when the one before it has come, so a pair of them is a round trip.
  void expect_one_dial_and_its_handshake() {
    await(LinkEvent::kUp);
    const std::vector<std::string> handshake =
        GetParam() ? std::vector<std::string>{"dial", "HELLO", "WELCOME", "INITIATE", "READY"}
                   : std::vector<std::string>{"dial", "READY", "READY"};
    see(handshake.size());
    EXPECT_EQ(relay_.events(), handshake);
    send_in_time(*client_, link_, numbered_frame(1, 100));
    const auto deadline = std::chrono::steady_clock::now() + kDeadline;
    std::optional<Received> there;
    while ((!there || there->event != LinkEvent::kFrame) &&
           std::chrono::steady_clock::now() < deadline) {
      relay_.pump();
      (void)client_->receive();
      there = server_->receive();
    }
    ASSERT_TRUE(there && there->event == LinkEvent::kFrame);
    expect_numbered(there->frame, 1, 100);
    EXPECT_EQ(there->proven, GetParam() ? std::optional<Rank>(1) : std::nullopt);
    EXPECT_EQ(relay_.events(), handshake);
  }

  void work() {
    relay_.pump();
    (void)client_->receive();
    (void)server_->receive();
  }

  /// Whether the server sends this connection a command.
  bool is_answered(const RawConnection& connection) {
    Commands theirs;
    const auto deadline = std::chrono::steady_clock::now() + kDeadline;
    while (std::chrono::steady_clock::now() < deadline) {
      work();
      std::array<char, 4096> bytes{};
      const ssize_t size =
          ::recv(connection.descriptor(), bytes.data(), bytes.size(), MSG_DONTWAIT);
      if (size == 0) return false;
      if (size > 0 && !theirs.after({bytes.data(), static_cast<std::size_t>(size)}).empty()) {
        return true;
      }
    }
    return false;
  }

  Relay relay_;
  std::unique_ptr<Transport> server_, client_;
  LinkId link_ = 0;

 private:
  [[nodiscard]] std::unique_ptr<Transport> make(std::uint8_t pair, const std::string& listen) {
    TransportOptions options{.listen = listen};
    if (GetParam()) options.keys = test::Keys(test::ring(pair, {{10}, {11}})).source();
    options.reconnect_min = std::chrono::milliseconds(5);
    options.reconnect_max = std::chrono::milliseconds(50);
    return TransportTest::make(options);
  }
};

INSTANTIATE_TEST_SUITE_P(Keys, ZmqRestart, ::testing::Bool(), [](const auto& info) {
  return std::string(info.param ? "WithKeys" : "WithoutKeys");
});

TEST_P(ZmqRestart, TheNextDialConnectsToWhoWasStartedAgainInTwoRoundTrips) {
  start_server();
  start_client();
  expect_one_dial_and_its_handshake();
  for (int life = 0; life < 3; ++life) {
    server_.reset();
    relay_.leads_to("");
    await(LinkEvent::kDown);
    // It dials on, in vain.
    see(3);
    EXPECT_GE(relay_.events().size(), 3U);
    start_server();
    expect_one_dial_and_its_handshake();
  }
}

TEST_P(ZmqRestart, WhoIsStartedAgainDialsOnceAndIsConnectedInTwoRoundTrips) {
  start_server();
  start_client();
  expect_one_dial_and_its_handshake();
  for (int life = 0; life < 3; ++life) {
    client_.reset();
    relay_.leads_to(server_->endpoint());
    start_client();
    expect_one_dial_and_its_handshake();
  }
}

TEST_P(ZmqRestart, WhatWasRecordedSaysNothingASecondTimeWhereThereAreKeys) {
  start_server();
  start_client();
  expect_one_dial_and_its_handshake();
  const std::uint64_t before = server_->stats().frames_received;
  ASSERT_EQ(before, 1U);
  {
    // As it was said: the greeting and the first command, and the rest after the first answer.
    const std::string& heard = relay_.heard();
    const std::size_t first = 64 + 2 + static_cast<unsigned char>(heard.at(65));
    ASSERT_LT(first, heard.size());
    const RawConnection replay(server_->endpoint());
    replay.write(heard.substr(0, first));
    ASSERT_TRUE(is_answered(replay));
    replay.write(heard.substr(first));
    const auto deadline = std::chrono::steady_clock::now() + kDeadline;
    const auto decided = [&] {
      const TransportStats now = server_->stats();
      return now.strangers > 0 || now.frames_received > before;
    };
    while (!decided() && std::chrono::steady_clock::now() < deadline) work();
  }
  EXPECT_EQ(server_->stats().frames_received, GetParam() ? before : before + 1);
  EXPECT_EQ(server_->stats().strangers, GetParam() ? 1U : 0U);
}

}  // namespace
}  // namespace stencil::contract
