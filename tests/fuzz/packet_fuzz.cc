// Input: one byte for the number of descriptors, then the bytes of a message, as any process of the
// host may send them to the socket over which segments are passed.

#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "stencil/shared/packet.h"
#include "tests/support/send_descriptors.h"

using stencil::test::next_descriptor;
using stencil::test::send_with_descriptors;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1 || size > 4096) return 0;
  const std::size_t descriptors = data[0] % 6U;
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return 0;
  const int before = next_descriptor();
  if (stencil::receive_packet(ends[1]).anything) std::abort();  // nothing was sent
  const auto bytes = std::as_bytes(std::span(data + 1, size - 1));
  if (!send_with_descriptors(ends[0], bytes, descriptors)) std::abort();
  const stencil::Heard heard = stencil::receive_packet(ends[1]);
  if (!heard.anything || heard.packet.has_value() != (heard.descriptor >= 0)) std::abort();
  if (heard.packet && descriptors != 1) std::abort();
  if (heard.descriptor >= 0) ::close(heard.descriptor);
  if (next_descriptor() != before) std::abort();
  ::close(ends[0]);
  ::close(ends[1]);
  return 0;
}
