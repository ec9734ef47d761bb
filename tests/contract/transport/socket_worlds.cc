#include "tests/contract/transport/socket_worlds.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>

namespace stencil::contract {

TcpWorld::~TcpWorld() {
  for (const int reserved : reserved_) ::close(reserved);
}

std::string TcpWorld::free_endpoint() {
  const int reserved = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = 1;
  ::setsockopt(reserved, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  EXPECT_EQ(::bind(reserved, reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(::getsockname(reserved, reinterpret_cast<sockaddr*>(&address), &size), 0);
  reserved_.push_back(reserved);
  return scheme_ + "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
}

IpcWorld::IpcWorld(std::string scheme, MakeTransport make)
    : scheme_(std::move(scheme)), make_(make) {
  std::string pattern = (std::filesystem::temp_directory_path() / "fast-ipc-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
  folder_ = pattern;
}

IpcWorld::~IpcWorld() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

}  // namespace stencil::contract
