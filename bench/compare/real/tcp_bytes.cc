#include "bench/compare/real/tcp_bytes.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

namespace fast::compare {
namespace {

std::optional<std::uint64_t> sent_by(int descriptor) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return std::nullopt;
  // An older kernel knows fewer fields.
  if (size < offsetof(tcp_info, tcpi_bytes_retrans) + sizeof info.tcpi_bytes_retrans) {
    return std::nullopt;
  }
  return info.tcpi_bytes_sent - info.tcpi_bytes_retrans;
}

}  // namespace

TcpBytes::TcpBytes() {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error)) {
    const std::string name = entry.path().filename();
    int descriptor = -1;
    std::from_chars(name.data(), name.data() + name.size(), descriptor);
    if (const auto sent = sent_by(descriptor)) sent_[descriptor] = *sent;
  }
}

std::uint64_t TcpBytes::count() {
  std::uint64_t sum = 0;
  for (auto& [descriptor, sent] : sent_) {
    sent = std::max(sent, sent_by(descriptor).value_or(0));
    sum += sent;
  }
  return sum;
}

}  // namespace fast::compare
