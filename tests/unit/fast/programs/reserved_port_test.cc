#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <set>
#include <string>
#include <vector>

#include "fast/programs/launch/loopback.h"

namespace fast {
namespace {

/// Listens as our transports do; returns the descriptor, or -1.
int listen_at(const std::string& endpoint) {
  const int port = std::stoi(endpoint.substr(endpoint.rfind(':') + 1));
  const bool six = endpoint.starts_with("[");
  const int descriptor = socket(six ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = 1;
  setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in four{};
  four.sin_family = AF_INET;
  four.sin_port = htons(static_cast<std::uint16_t>(port));
  four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  sockaddr_in6 long_one{};
  long_one.sin6_family = AF_INET6;
  long_one.sin6_port = four.sin_port;
  long_one.sin6_addr = in6addr_loopback;
  const int bound =
      six ? bind(descriptor, reinterpret_cast<const sockaddr*>(&long_one), sizeof long_one)
          : bind(descriptor, reinterpret_cast<const sockaddr*>(&four), sizeof four);
  if (bound == 0 && listen(descriptor, 1) == 0) return descriptor;
  close(descriptor);
  return -1;
}

TEST(ReservedPortTest, WhoNamesItMayListenThereAgainAndAgain) {
  const ReservedPort port;
  for (int life = 0; life < 3; ++life) {
    const int descriptor = listen_at(port.endpoint());
    ASSERT_GE(descriptor, 0) << port.endpoint();
    EXPECT_EQ(listen_at(port.endpoint()), -1) << "two listen at once";
    close(descriptor);
  }
}

TEST(ReservedPortTest, EachIsAnother) {
  const std::vector<ReservedPort> ports(20);
  std::set<std::string> endpoints;
  for (const ReservedPort& port : ports) endpoints.insert(port.endpoint());
  EXPECT_EQ(endpoints.size(), ports.size());
}

}  // namespace
}  // namespace fast
