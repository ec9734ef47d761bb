#pragma once

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace fast::testing {

/// A service manager's end of NOTIFY_SOCKET.
class ServiceSocket {
 public:
  /// `name`: a path, or "@..." for an abstract name.
  explicit ServiceSocket(std::string name) : name_(std::move(name)) {
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    std::ranges::copy(name_, address.sun_path);
    if (name_[0] == '@') address.sun_path[0] = '\0';
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name_.size());
    descriptor_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (::bind(descriptor_, reinterpret_cast<const sockaddr*>(&address), size) != 0) {
      throw std::runtime_error("cannot bind " + name_);
    }
  }
  ~ServiceSocket() { ::close(descriptor_); }
  ServiceSocket(const ServiceSocket&) = delete;
  ServiceSocket& operator=(const ServiceSocket&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }
  /// All that has come by now, since the beginning.
  const std::vector<std::string>& told() {
    std::array<char, 4096> text;
    while (true) {
      const ssize_t size = ::recv(descriptor_, text.data(), text.size(), 0);
      if (size < 0) return told_;
      told_.emplace_back(text.data(), static_cast<std::size_t>(size));
    }
  }

 private:
  std::string name_;
  int descriptor_ = -1;
  std::vector<std::string> told_;
};

}  // namespace fast::testing
