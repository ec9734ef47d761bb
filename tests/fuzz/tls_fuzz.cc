// Input: one byte whose lowest bit says who is spoken to, an end that listens or one that has
// dialled, then what it is sent before it has any proof. Nobody without a secret key of the ring is
// ever proven, and what ends, ends as failed.
//
// Seeds: tests/fuzz/corpus/tls: what ends with these keys say first.

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "stencil/transport/descriptors.h"
#include "stencil/transport/stream/tls.h"

namespace {

using stencil::TlsChannel;

/// Whose secret keys nobody has: the fuzzer knows the public ones alone.
std::shared_ptr<const stencil::KeyRing> fuzzed_ring() {
  auto ring = std::make_shared<stencil::KeyRing>();
  ring->own_public.bytes.fill(9);
  ring->own_secret.bytes.fill(77);
  stencil::PublicKey other;
  other.bytes.fill(10);
  ring->by_rank = {{ring->own_public}, {other}};
  return ring;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const stencil::TlsContext context;
  static const std::shared_ptr<const stencil::KeyRing> ring = fuzzed_ring();
  if (size == 0 || size > 100'000) return 0;
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) std::abort();
  const stencil::Descriptor near(ends[0]), far(ends[1]);
  const bool dials = (data[0] & 1) != 0;
  const auto channel =
      dials ? std::make_unique<TlsChannel>(context, near.get(), ring, ring->by_rank[1][0])
            : std::make_unique<TlsChannel>(context, near.get(), ring);
  if (dials && channel->shake_hands() != TlsChannel::Handshake::kUnderWay) std::abort();
  for (std::size_t at = 1; at < size;) {
    const ssize_t sent = ::send(far.get(), data + at, size - at, MSG_NOSIGNAL);
    if (sent <= 0) break;
    at += static_cast<std::size_t>(sent);
    const TlsChannel::Handshake outcome = channel->shake_hands();
    if (outcome == TlsChannel::Handshake::kDone) std::abort();
    if (outcome == TlsChannel::Handshake::kFailed) return 0;
  }
  ::shutdown(far.get(), SHUT_WR);
  if (channel->shake_hands() == TlsChannel::Handshake::kDone) std::abort();
  return 0;
}
