#include "stencil/shared/packet.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

namespace stencil {
namespace {

/// One more than is accepted, so that a second descriptor is noticed. The kernel closes those that
/// do not fit.
constexpr std::size_t kMostDescriptors = 2;

/// Room for so many descriptors, and no more: CMSG_SPACE() rounds up.
struct Control {
  alignas(cmsghdr) char bytes[CMSG_SPACE(kMostDescriptors * sizeof(int))] = {};
};

msghdr message_of(iovec& part, Control& control, std::size_t descriptors) {
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = CMSG_SPACE(descriptors * sizeof(int));
  return message;
}

/// The only descriptor of a message. Where there is not exactly one, closes them all and returns
/// -1.
int take_one(msghdr& message) {
  int one = -1;
  std::size_t count = 0;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
       part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t held = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < held; ++i) {
      if (one >= 0) ::close(one);
      std::memcpy(&one, CMSG_DATA(part) + i * sizeof(int), sizeof one);
      ++count;
    }
  }
  if (count == 1) return one;
  if (one >= 0) ::close(one);
  return -1;
}

}  // namespace

bool send_packet(int socket, const Packet& packet, int descriptor) {
  Packet copy = packet;
  iovec part{&copy, sizeof copy};
  Control control;
  msghdr message = message_of(part, control, 1);
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  return ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof copy;
}

Heard receive_packet(int socket) {
  Packet packet;
  iovec part{&packet, sizeof packet};
  Control control;
  msghdr message = message_of(part, control, kMostDescriptors);
  const ssize_t size = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return {};
  Heard heard{.anything = true, .packet = {}};
  if (size < 0) return heard;
  const int descriptor = take_one(message);
  const bool whole = size == sizeof packet && packet.magic == Packet::kMagic &&
                     (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0;
  if (whole && descriptor >= 0) {
    heard.packet = packet;
    heard.descriptor = descriptor;
  } else if (descriptor >= 0) {
    ::close(descriptor);
  }
  return heard;
}

}  // namespace stencil
