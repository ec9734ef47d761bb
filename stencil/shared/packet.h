#pragma once

#include <cstdint>
#include <optional>

#include "stencil/core/types.h"

namespace stencil {

/// The message by which two workers pass the descriptors of their segments, see UnixMeeting: these
/// bytes, as they lie in memory, and one descriptor with them.
struct Packet {
  static constexpr std::uint64_t kMagic = 0x5447454d54534146ULL;
  std::uint64_t magic = kMagic;
  std::uint64_t secret = 0;  ///< of the listener
  std::uint64_t id = 0;      ///< of the sender's segment
  std::int64_t rank = kNoRank;
};

/// Sends over a connected socket that keeps message boundaries. Does not block. Returns false where
/// it cannot be sent now. The caller still owns the descriptor.
[[nodiscard]] bool send_packet(int socket, const Packet& packet, int descriptor);

/// What receive_packet() read from a socket.
struct Heard {
  bool anything = false;         ///< a packet, anything else, or the end of the stream
  std::optional<Packet> packet;  ///< with the bytes of one and one descriptor, no more and no less
  int descriptor = -1;           ///< owned by the caller, where there is a packet
};

/// Does not block. Closes every descriptor received except the one that it returns.
[[nodiscard]] Heard receive_packet(int socket);

}  // namespace stencil
