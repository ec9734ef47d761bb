#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "stencil/io/waits.h"
#include "stencil/transport/stream/connection.h"

namespace stencil {

struct Dialled;

/// A connection, and whose it is.
struct Peer {
  Peer(Descriptor&& socket, Connection::State state, const TransportOptions& options,
       BucketPool& payloads, std::unique_ptr<TlsChannel> tls)
      : connection(std::move(socket), state, options, payloads, std::move(tls)) {}

  Connection connection;
  std::optional<Watch> watch;
  Dialled* dialled = nullptr;  ///< null: accepted, or dropped
  std::optional<Rank> rank;    ///< whose key it has proven, by the keys as they are now
  LinkId link = 0;             ///< of an accepted one, from its first frame until drop()
  bool stranger = false;       ///< accepted, and no frame has come
  bool leaving = false;
  bool ready = false;  ///< stands in the line of those that may have something to give
  int age = 0;         ///< ticks without their greeting, or since we have left
  std::uint64_t last_used = 0;
};

/// All connections of a transport, and the line of those that may have something to give; the loop
/// waits for the others.
class Peers {
 public:
  using Owned = std::vector<std::unique_ptr<Peer>>;

  /// `noted` is called when something has happened to a connection that is waited for. `options`
  /// outlives this.
  Peers(const TransportOptions& options, std::function<void()> noted)
      : options_(options), noted_(std::move(noted)) {}

  /// It is ready. Throws ResourceError where the system cannot watch the socket.
  Peer& add(Descriptor&& socket, Connection::State state,
            std::unique_ptr<TlsChannel> tls = nullptr);
  void erase(Peer& peer);

  [[nodiscard]] std::size_t size() const { return all_.size(); }
  [[nodiscard]] Owned::const_iterator begin() const { return all_.begin(); }
  [[nodiscard]] Owned::const_iterator end() const { return all_.end(); }

  /// At the end of the line, unless it stands there already.
  void make_ready(Peer& peer) {
    if (!std::exchange(peer.ready, true)) ready_.push_back(&peer);
  }
  [[nodiscard]] std::size_t ready() const { return ready_.size(); }
  /// The first in line, which leaves it. Requires ready() > 0.
  [[nodiscard]] Peer& take_ready();
  /// Waits on the loop for all that could bring this one more.
  static void wait_for(Peer& peer);

  /// After bytes of an accepted connection: the one that must end now, if any; see
  /// TransportOptions::max_partial_payloads.
  [[nodiscard]] Peer* one_partial_too_many(Peer& peer);
  /// Of those that we have accepted and that have no link, the one longest silent. Requires one.
  [[nodiscard]] Peer& longest_silent() const;

 private:
  const TransportOptions& options_;
  std::function<void()> noted_;
  BucketPool payloads_;
  Owned all_;
  std::vector<Peer*> ready_;    ///< in turn
  std::vector<Peer*> partial_;  ///< accepted, in the middle of a payload; longest still first
};

}  // namespace stencil
