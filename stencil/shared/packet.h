#pragma once

#include <cstdint>
#include <optional>

#include "stencil/core/types.h"

namespace stencil {

/// What two workers say to each other to pass the descriptors of their segments, see UnixMeeting:
/// these bytes, as they lie in memory, and one descriptor beside them.
struct Packet {
  static constexpr std::uint64_t kMagic = 0x5447454d54534146ULL;
  std::uint64_t magic = kMagic;
  std::uint64_t secret = 0;  ///< of whoever listens
  std::uint64_t id = 0;      ///< of the sender's segment
  std::int64_t rank = kNoRank;
};

/// Over a connected socket that keeps messages apart; does not block. False where it cannot be
/// sent now. The descriptor stays the caller's.
[[nodiscard]] bool send_packet(int socket, const Packet& packet, int descriptor);

/// What has come over a socket.
struct Heard {
  bool anything = false;         ///< also what is no packet, or the end
  std::optional<Packet> packet;  ///< with the bytes of one and one descriptor, no more and no less
  int descriptor = -1;           ///< the caller's, where there is a packet
};

/// Does not block. Whatever was sent, no descriptor stays open but the one that is returned.
[[nodiscard]] Heard receive_packet(int socket);

}  // namespace stencil
