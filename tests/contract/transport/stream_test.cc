#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "stencil/core/error.h"
#include "tests/contract/transport/socket_worlds.h"
#include "tests/contract/transport/transport_contract.h"

namespace stencil::contract {
namespace {

const TransportKind kTcp{"tcp",
                         [] { return std::make_unique<TcpWorld>("tcp://", make_transport); }};
const TransportKind kIpc{"ipc",
                         [] { return std::make_unique<IpcWorld>("ipc://", make_transport); }};
const TransportKind kKeyed{
    "keyed", [] {
      return std::make_unique<KeyedWorld>(std::make_unique<TcpWorld>("tcp://", make_transport));
    }};

INSTANTIATE_TEST_SUITE_P(Stream, TransportContract, ::testing::Values(kTcp, kIpc, kKeyed));
INSTANTIATE_TEST_SUITE_P(Stream, KeyedTransportContract, ::testing::Values(kTcp, kIpc));

class StreamTransport : public TransportTest {};

TEST_F(StreamTransport, AListenerOnAllInterfacesNamesOneThatCanBeDialled) {
  for (const std::string listen : {"tcp://*:*", "tcp://0.0.0.0:0"}) {
    TransportOptions options;
    options.listen = listen;
    auto server = make(options);
    EXPECT_TRUE(server->endpoint().starts_with("tcp://"));
    EXPECT_EQ(server->endpoint().find('*'), std::string::npos);
    EXPECT_EQ(server->endpoint().find("0.0.0.0"), std::string::npos);
    auto client = make();
    send_in_time(*client, client->dial(server->endpoint()), numbered_frame(1, 1));
    expect_numbered(expect_frame(*server).frame, 1, 1);
  }
}

TEST_F(StreamTransport, AddressesThatCannotBeListenedOnAreNamed) {
  for (const std::string bad : {"tcp://", "tcp://127.0.0.1", "tcp://127.0.0.1:99999",
                                "tcp://203.0.113.7:0", "pigeon://x", "127.0.0.1"}) {
    TransportOptions options;
    options.listen = bad;
    try {
      (void)make(options);
      FAIL() << bad;
    } catch (const ConfigError& error) {
      EXPECT_NE(std::string(error.what()).find(bad), std::string::npos) << error.what();
    }
  }
}

TEST_F(StreamTransport, AddressesThatCannotBeDialledAreNamed) {
  auto client = make();
  for (const std::string bad : {"tcp://host", "tcp://host:0", "tcp://host:*", "tcp://host:65536",
                                "tcp://:5", "tcp://host:5x", "ipc://", "pigeon://x"}) {
    try {
      (void)client->dial(bad);
      FAIL() << bad;
    } catch (const ConfigError& error) {
      EXPECT_NE(std::string(error.what()).find(bad), std::string::npos) << error.what();
    }
  }
}

TEST_F(StreamTransport, ANameThatDoesNotResolveIsTriedAgainAndNeverThrows) {
  auto client = make();
  const LinkId link = client->dial("tcp://no-such-host.invalid:5555");
  EXPECT_EQ(client->send(link, numbered_frame(1, 1)), SendStatus::kDown);
  EXPECT_FALSE(client->receive().has_value());
}

TEST_F(StreamTransport, APathIsTakenOverFromTheDeadAndLeftClean) {
  IpcWorld world("ipc://", make_transport);
  TransportOptions options{.loop = &loop_};
  options.listen = world.any_endpoint();
  const std::string path = options.listen.substr(6);
  {
    // One that has been killed leaves its path behind.
    const int dead = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::ranges::copy(path, address.sun_path);
    ASSERT_EQ(::bind(dead, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    ::close(dead);
  }
  ASSERT_TRUE(std::filesystem::exists(path));
  {
    auto server = world.make(options);
    EXPECT_THROW((void)world.make(options), NetworkError) << "it lives";
    auto client = world.make({.loop = &loop_});
    send_in_time(*client, client->dial(server->endpoint()), numbered_frame(1, 10));
    expect_numbered(expect_frame(*server).frame, 1, 10);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(StreamTransport, APathTooLongIsNamed) {
  TransportOptions options;
  options.listen = "ipc:///tmp/" + std::string(200, 'x');
  EXPECT_THROW((void)make(options), ConfigError);
}

TEST_F(StreamTransport, WhoAnswersWithAnythingElseIsNoWorker) {
  const int listening = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(listening, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(listening, 4), 0);
  ASSERT_EQ(::getsockname(listening, reinterpret_cast<sockaddr*>(&address), &size), 0);
  auto client = make();
  const LinkId link = client->dial("tcp://127.0.0.1:" + std::to_string(ntohs(address.sin_port)));
  const int accepted = ::accept(listening, nullptr, nullptr);
  const std::string page = "HTTP/1.1 400 Bad Request\r\n\r\n";
  ASSERT_GT(::send(accepted, page.data(), page.size(), MSG_NOSIGNAL), 0);
  EXPECT_EQ(expect_event(*client, LinkEvent::kDown).link, link);
  EXPECT_EQ(client->stats().strangers, 1U);
  ::close(accepted);
  ::close(listening);
}

}  // namespace
}  // namespace stencil::contract
