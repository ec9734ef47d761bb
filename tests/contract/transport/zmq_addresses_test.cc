// Which addresses a ZeroMQ transport listens on and dials, and beside which others.
#include <dlfcn.h>
#include <netdb.h>

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stencil/core/error.h"
#include "stencil/transport/factory.h"
#include "tests/contract/transport/socket_worlds.h"
#include "tests/contract/transport/transport_contract.h"

namespace {

constexpr std::string_view kName = "two-addresses.test", kSlow = "slow.test";

/// Holds whoever looks kSlow up.
class Gate {
 public:
  void pass() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.wait_for(lock, std::chrono::seconds(20), [this] { return open_; });
    --waiting_;
    changed_.notify_all();
  }
  int waiting() {
    const std::lock_guard lock(mutex_);
    return waiting_;
  }
  void let_all_pass() {
    std::unique_lock lock(mutex_);
    open_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return waiting_ == 0; });
    open_ = false;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int waiting_ = 0;
  bool open_ = false;
};

Gate& gate() {
  static Gate gate;
  return gate;
}

}  // namespace

/// In place of the system's resolver, which goes by this machine: kName has two addresses, of which
/// one is not listened on, and kSlow none, after a long time.
extern "C" int getaddrinfo(const char* host, const char* port, const addrinfo* hints,
                           addrinfo** found) {
  using Resolve = int (*)(const char*, const char*, const addrinfo*, addrinfo**);
  static const auto resolve = reinterpret_cast<Resolve>(dlsym(RTLD_NEXT, "getaddrinfo"));
  const bool number = hints != nullptr && (hints->ai_flags & AI_NUMERICHOST) != 0;
  if (host != nullptr && host == kSlow && !number) {
    gate().pass();
    return EAI_AGAIN;
  }
  if (host == nullptr || host != kName || number) return resolve(host, port, hints, found);
  const int error = resolve("127.0.0.1", port, hints, found);
  return error != 0 ? error : resolve("127.0.0.2", port, hints, &(*found)->ai_next);
}

namespace stencil::contract {
namespace {

std::string port_of(const Transport& transport) {
  const std::string endpoint = transport.endpoint();
  return endpoint.substr(endpoint.rfind(':'));
}

class ZmqAddresses : public TransportTest {
 protected:
  std::unique_ptr<Transport> listener(const std::string& listen) {
    return make({.listen = listen});
  }

  /// Whether this machine has this address; without it there is nothing to try.
  bool has_ipv6() {
    try {
      (void)listener("zmq://[::1]:0");
      return true;
    } catch (const ConfigError&) {
      return false;
    }
  }

  /// A frame each way.
  void expect_connection(Transport& client, Transport& server, const std::string& address) {
    SCOPED_TRACE(address);
    const LinkId link = client.dial(address);
    EXPECT_EQ(expect_event(client, LinkEvent::kUp, &server).link, link);
    send_in_time(client, link, numbered_frame(1, 100));
    const Received there = expect_frame(server, &client);
    expect_numbered(there.frame, 1, 100);
    send_in_time(server, there.link, numbered_frame(2, 100));
    expect_numbered(expect_frame(client, &server).frame, 2, 100);
  }
};

TEST_F(ZmqAddresses, AListenerOnAllInterfacesIsReachedOverBothFamilies) {
  auto server = listener("zmq://*:0"), client = make();
  EXPECT_EQ(server->endpoint().find('*'), std::string::npos) << "one that can be dialled";
  expect_connection(*client, *server, "zmq://127.0.0.1" + port_of(*server));
  if (!has_ipv6()) return;
  expect_connection(*client, *server, "zmq://[::1]" + port_of(*server));
}

TEST_F(ZmqAddresses, AListenerOnAnIpv6AddressIsReachedThere) {
  if (!has_ipv6()) return;
  auto server = listener("zmq://[::1]:0"), client = make();
  expect_connection(*client, *server, server->endpoint());
}

TEST_F(ZmqAddresses, AllAddressesOfANameAreTried) {
  for (const std::string listen : {"zmq://127.0.0.1:0", "zmq://127.0.0.2:0"}) {
    auto server = listener(listen), client = make();
    expect_connection(*client, *server, "zmq://" + std::string(kName) + port_of(*server));
  }
}

TEST_F(ZmqAddresses, ANameThatTakesLongHoldsUpNeitherOthersNorTheEnd) {
  for (const std::string scheme : {"zmq://", "tcp://"}) {
    auto server = listener(scheme + "127.0.0.1:0"), client = make();
    (void)client->dial(scheme + std::string(kSlow) + ":1");
    expect_connection(*client, *server, scheme + std::string(kName) + port_of(*server));
    client.reset();
    const auto deadline = std::chrono::steady_clock::now() + kDeadline;
    while (gate().waiting() == 0 && std::chrono::steady_clock::now() < deadline) {
    }
    EXPECT_EQ(gate().waiting(), 1) << "it is still being looked up";
    gate().let_all_pass();
  }
}

TEST_F(ZmqAddresses, ANameThatDoesNotResolveIsTriedAgainAndNeverThrows) {
  auto client = make();
  const LinkId link = client->dial("zmq://no-such-host.invalid:5555");
  EXPECT_EQ(client->send(link, numbered_frame(1, 1)), SendStatus::kDown);
  EXPECT_FALSE(client->receive().has_value());
}

TEST_F(ZmqAddresses, ANameThatDoesNotResolveIsReported) {
  for (const std::string scheme : {"zmq://", "tcp://"}) {
    std::string name, why;
    auto client = make({.unresolved = [&](const std::string& host, const std::string& error) {
      name = host;
      why = error;
    }});
    (void)client->dial(scheme + "no-such-host.invalid:5555");
    const auto deadline = std::chrono::steady_clock::now() + kDeadline;
    while (name.empty() && std::chrono::steady_clock::now() < deadline) {
      // What is not found asks for no turn.
      (void)wait(std::chrono::steady_clock::now() + std::chrono::milliseconds(20));
      (void)client->receive();
    }
    EXPECT_EQ(name, "no-such-host.invalid") << scheme;
    EXPECT_NE(why, "");
  }
}

TEST_F(ZmqAddresses, ALinkLocalAddressWithoutItsInterfaceIsRefusedWithTheRemedy) {
  auto client = make();
  for (const std::string scheme : {"zmq://", "tcp://"}) {
    for (const std::string host : {"[fe80::1]", "fe80::1"}) {
      const std::string bad = scheme + host + ":5555";
      for (const auto& open : std::vector<std::function<void()>>{[&] { (void)listener(bad); },
                                                                 [&] { (void)client->dial(bad); },
                                                                 [&] { check_address(bad); }}) {
        try {
          open();
          ADD_FAILURE() << bad;
        } catch (const ConfigError& error) {
          EXPECT_NE(std::string(error.what()).find(scheme + "[fe80::1%INTERFACE]:5555"),
                    std::string::npos)
              << error.what();
        }
      }
    }
    (void)client->dial(scheme + "[fe80::1%lo]:5555");
  }
  EXPECT_THROW(check_address("host"), ConfigError);
  EXPECT_THROW(check_address("udp://host:1"), ConfigError);
  EXPECT_NO_THROW(check_address("host:1"));
  EXPECT_NO_THROW(check_address("inproc://a"));
}

TEST_F(ZmqAddresses, WrongOnesAreNamed) {
  for (const std::string bad : {"zmq://", "zmq://127.0.0.1", "zmq://127.0.0.1:99999",
                                "zmq://203.0.113.7:0", "zmq+ipc://"}) {
    try {
      (void)listener(bad);
      FAIL() << bad;
    } catch (const ConfigError& error) {
      EXPECT_NE(std::string(error.what()).find(bad), std::string::npos) << error.what();
    }
  }
  auto client = make();
  for (const std::string bad :
       {"zmq://host", "zmq://host:0", "zmq://host:*", "zmq://:5", "zmq://host:5x", "zmq+ipc://"}) {
    EXPECT_THROW((void)client->dial(bad), ConfigError) << bad;
  }
}

TEST_F(ZmqAddresses, EachAddressGoesByItsOwnScheme) {
  IpcWorld paths("zmq+ipc://", make_transport);
  std::vector<std::unique_ptr<Transport>> servers;
  for (const std::string& listen :
       {std::string("zmq://127.0.0.1:0"), std::string("tcp://127.0.0.1:0"), paths.any_endpoint()}) {
    servers.push_back(listener(listen));
  }
  // Whoever only dials, and whoever listens by any of them, dials all of them.
  for (const std::string listen : {"", "zmq://127.0.0.1:0", "tcp://127.0.0.1:0"}) {
    SCOPED_TRACE("listens on '" + listen + "'");
    auto client = listener(listen);
    for (const auto& server : servers) expect_connection(*client, *server, server->endpoint());
  }
  // What has no scheme goes by the usual one.
  auto bare = make({.usual_scheme = "tcp://"}), usual = make();
  expect_connection(*bare, *servers[1], "127.0.0.1" + port_of(*servers[1]));
  expect_connection(*usual, *servers[0], "127.0.0.1" + port_of(*servers[0]));
}

TEST_F(ZmqAddresses, WhatNobodyTakesIsGivenUpAfterTheLinger) {
  auto server = listener("zmq://127.0.0.1:0");
  auto client = make({.linger = std::chrono::milliseconds(20)});
  const LinkId link = client->dial(server->endpoint());
  expect_event(*client, LinkEvent::kUp, server.get());
  const Frame model = numbered_frame(0, 65536);
  std::size_t sent = 0;
  for (SendStatus status = SendStatus::kSent; status == SendStatus::kSent; ++sent) {
    ASSERT_LT(sent, 2000U) << "a queue without a bound";
    Frame frame = numbered_frame(1, 0);
    frame.payload = model.payload;
    status = client->send(link, std::move(frame));
  }
  client.reset();  // without a bound it would wait for a server that does not read
  std::size_t whole = 0;
  std::optional<Received> received = next_event(*server);
  for (; received && received->event == LinkEvent::kFrame; received = next_event(*server)) ++whole;
  ASSERT_TRUE(received) << "the end is told too";
  EXPECT_LT(whole, sent) << "it has waited for all to be read";
  EXPECT_GT(whole, 0U) << "and what had been sent arrives";
}

}  // namespace
}  // namespace stencil::contract
