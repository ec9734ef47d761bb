#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "stencil/core/random.h"
#include "stencil/transport/backoff.h"
#include "stencil/transport/stream/connection.h"
#include "stencil/transport/stream/lookup.h"

namespace stencil {

struct Peer;

/// A link that we dial.
struct Dialled {
  LinkId id = 0;
  Endpoint endpoint;
  std::vector<Address> literal;  ///< empty for a name
  std::optional<PublicKey> key;  ///< that the other end must prove
  std::size_t attempts = 0;
  std::optional<Backoff> backoff;
  std::optional<Alarm> alarm;  ///< for the next attempt, or the end of the present one
  std::optional<Lookup> lookup;
  Peer* peer = nullptr;
  bool up = false;  ///< as the caller has been told
};

/// The links that we dial: one attempt after another for each, to one of the name's addresses, to
/// the next of them the next time.
class Dialler {
 public:
  /// `socket`: an attempt has one, which connects or is connected; it sets Dialled::peer. `late`:
  /// the attempt with this peer is not up in time. `options` outlives this.
  struct Events {
    std::function<void(Dialled&, Descriptor&&, Connection::State)> socket;
    std::function<void(Peer&)> late;
  };

  Dialler(const TransportOptions& options, Events events)
      : options_(options), events_(std::move(events)), jitter_(options.seed) {}

  /// Begins the first attempt. Throws ConfigError for an address that it cannot parse.
  void dial(LinkId id, const PeerAddress& address);
  /// Null: there is none.
  [[nodiscard]] Dialled* find(LinkId link) const;
  void erase(const Dialled& dialled);
  /// The present attempt has ended: the next one comes after a pause.
  void try_again(Dialled& dialled);

  [[nodiscard]] std::size_t size() const { return all_.size(); }
  /// Requires size() > 0.
  [[nodiscard]] LinkId last() const { return all_.back()->id; }

 private:
  void attempt(Dialled& dialled);
  void connect(Dialled& dialled, const std::vector<Address>& addresses);

  const TransportOptions& options_;
  const Events events_;
  Random jitter_;
  std::vector<std::unique_ptr<Dialled>> all_;
};

}  // namespace stencil
