#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

namespace stencil::test {

/// Sends bytes over a Unix socket together with `count` descriptors. Returns false where that
/// fails.
inline bool send_with_descriptors(int socket, std::span<const std::byte> bytes,
                                  std::size_t descriptors) {
  std::vector<std::byte> copy(bytes.begin(), bytes.end());
  iovec part{copy.data(), copy.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  std::vector<char> control(CMSG_SPACE(descriptors * sizeof(int)));
  if (descriptors > 0) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(descriptors * sizeof(int));
    const std::vector<int> passed(descriptors, STDERR_FILENO);
    std::memcpy(CMSG_DATA(header), passed.data(), descriptors * sizeof(int));
  }
  return ::sendmsg(socket, &message, MSG_DONTWAIT) == static_cast<ssize_t>(bytes.size());
}

/// The next descriptor number of this process: the same before and after code that leaves none
/// open.
inline int next_descriptor() {
  const int fd = ::dup(STDERR_FILENO);
  ::close(fd);
  return fd;
}

}  // namespace stencil::test
