#include "fast/programs/service_manager.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>

namespace fast {
namespace {

/// A whole number above 0; nothing where `text` is none.
std::optional<long long> number(const std::optional<std::string>& text) {
  long long value = 0;
  if (!text) return std::nullopt;
  const char* const end = text->data() + text->size();
  const auto [rest, error] = std::from_chars(text->data(), end, value);
  if (error != std::errc() || rest != end || value <= 0) return std::nullopt;
  return value;
}

}  // namespace

ServiceManager::ServiceManager(const Environment& environment)
    : socket_(environment("NOTIFY_SOCKET").value_or("")) {
  const auto patience = number(environment("WATCHDOG_USEC"));
  const auto watched = environment("WATCHDOG_PID");
  if (patience && (!watched || number(watched) == ::getpid())) {
    every_ = std::chrono::microseconds(*patience) / 4;
  }
}

ServiceManager::~ServiceManager() {
  tell("STOPPING=1");
}

void ServiceManager::alive() {
  if (socket_.empty()) return;
  const Clock::time_point now = Clock::now();
  if (!started_) {
    started_ = true;
    tell("READY=1");
  } else if (every_ < Clock::duration::zero() || now - told_ < every_) {
    return;
  }
  told_ = now;
  if (every_ >= Clock::duration::zero()) tell("WATCHDOG=1");
}

void ServiceManager::status(const std::string& line) {
  tell("STATUS=" + line);
}

void ServiceManager::tell(std::string_view news) const {
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  if (socket_.empty() || socket_.size() >= sizeof(address.sun_path)) return;
  std::ranges::copy(socket_, address.sun_path);
  if (address.sun_path[0] == '@') address.sun_path[0] = '\0';  // of an abstract name
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  const int descriptor = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return;
  (void)::sendto(descriptor, news.data(), news.size(), MSG_NOSIGNAL,
                 reinterpret_cast<const sockaddr*>(&address), size);
  ::close(descriptor);
}

}  // namespace fast
