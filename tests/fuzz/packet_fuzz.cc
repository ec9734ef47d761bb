// Input: one byte for the number of descriptors, then the bytes of a message, as any process of the
// host may send them to the socket over which segments are passed.

#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "stencil/shared/packet.h"

namespace {

int next_descriptor() {
  const int fd = ::dup(STDERR_FILENO);
  ::close(fd);
  return fd;
}

void send(int socket, std::uint8_t* data, std::size_t size, std::size_t descriptors) {
  iovec part{data, size};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  std::vector<char> control(CMSG_SPACE(descriptors * sizeof(int)));
  if (descriptors > 0) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(descriptors * sizeof(int));
    const std::vector<int> passed(descriptors, STDERR_FILENO);
    std::memcpy(CMSG_DATA(header), passed.data(), descriptors * sizeof(int));
  }
  if (::sendmsg(socket, &message, MSG_DONTWAIT) < 0) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1 || size > 4096) return 0;
  const std::size_t descriptors = data[0] % 6U;
  std::vector<std::uint8_t> bytes(data + 1, data + size);
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return 0;
  const int before = next_descriptor();
  if (stencil::receive_packet(ends[1]).anything) std::abort();  // nothing was sent
  send(ends[0], bytes.data(), bytes.size(), descriptors);
  const stencil::Heard heard = stencil::receive_packet(ends[1]);
  if (!heard.anything || heard.packet.has_value() != (heard.descriptor >= 0)) std::abort();
  if (heard.packet && descriptors != 1) std::abort();
  if (heard.descriptor >= 0) ::close(heard.descriptor);
  if (next_descriptor() != before) std::abort();
  ::close(ends[0]);
  ::close(ends[1]);
  return 0;
}
