#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "stencil/transport/stream/connection.h"
#include "stencil/transport/stream/lookup.h"

// What StreamTransport keeps of others.
namespace stencil {

struct Dialled;

/// A connection, and whose it is.
struct Peer {
  Peer(Descriptor&& socket, Connection::State state, const TransportOptions& options,
       BucketPool& payloads)
      : connection(std::move(socket), state, options, payloads) {}

  Connection connection;
  std::optional<Watch> watch;
  Dialled* dialled = nullptr;  ///< null: accepted, or dropped
  LinkId link = 0;             ///< of an accepted one, from its first frame until drop()
  bool stranger = false;       ///< accepted, and no frame has come
  bool leaving = false;
  bool ready = false;  ///< stands in ready_
  int age = 0;         ///< ticks without their greeting, or since we have left
  std::uint64_t last_used = 0;
};

struct Dialled {
  LinkId id = 0;
  Endpoint endpoint;
  std::vector<Address> literal;  ///< empty for a name
  std::size_t attempts = 0;
  Duration pause{};            ///< before the next attempt
  std::optional<Alarm> alarm;  ///< for the next attempt, or the end of the present one
  std::optional<Lookup> lookup;
  Peer* peer = nullptr;
  bool up = false;  ///< as the caller has been told
};

}  // namespace stencil
