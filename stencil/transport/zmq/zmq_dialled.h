#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "stencil/transport/backoff.h"
#include "stencil/transport/stream/lookup.h"
#include "stencil/transport/zmq/outgoing.h"
#include "stencil/transport/zmq/port.h"

namespace stencil {

/// A link that we dial, from dial() to drop(): one attempt after another, each with a DEALER of its
/// own to one of the name's addresses, until one is connected, and again when that has ended.
class ZmqDialled final : public EventSource {
 public:
  /// Throws ConfigError for an address that it cannot parse, or a key that no keys of ours go with.
  ZmqDialled(ZmqShared& shared, LinkId id, const PeerAddress& address);
  /// What waits is sent all the same, the linger at most.
  ~ZmqDialled() override;

  [[nodiscard]] LinkId id() const { return id_; }
  [[nodiscard]] SendStatus send(Frame&& frame);
  std::optional<Received> next() override;
  /// A payload of some link has left libzmq. True where the link takes frames again.
  [[nodiscard]] bool hand_on();
  [[nodiscard]] bool idle() const { return !port_ || outgoing_.size() == 0; }
  /// Looks at what libzmq holds; next() is asked for where that may be too much. Whether there is
  /// a connection.
  [[nodiscard]] bool look();
  /// Bytes that libzmq held at the last look(), and has not handed on since.
  [[nodiscard]] std::size_t held() const { return meter_ ? meter_->held() : 0; }
  /// The keys have changed: a connection that does not go by them any more ends.
  void heed_keys(bool own_pair_changed);

 private:
  void attempt();
  void connect(const std::vector<Address>& addresses);
  void try_again();
  void hear_monitor();
  void end();
  /// Hangs up, on purpose: the next attempt comes as after any other end.
  void abandon();
  void drop_unsent();
  /// Whether libzmq has passed on all that came before the end.
  [[nodiscard]] bool is_gone() const;
  [[nodiscard]] std::size_t most_held() const;
  [[nodiscard]] std::optional<Received> next_frame();
  [[nodiscard]] Received event(LinkEvent kind) const;

  ZmqShared& shared_;
  const LinkId id_;
  const Endpoint endpoint_;
  const std::vector<Address> literal_;  ///< empty for a name
  const std::optional<PublicKey> key_;
  std::optional<Rank> rank_;  ///< whose key it is, by the keys as they are now
  std::size_t attempts_ = 0;
  Backoff backoff_;
  Alarm alarm_;  ///< for the next attempt
  std::optional<Lookup> lookup_;
  std::optional<Port> port_;    ///< of the present attempt
  std::optional<Meter> meter_;  ///< of the present connection
  Outgoing outgoing_;
  bool connected_ = false;  ///< the handshake has succeeded
  bool ended_ = false;      ///< and there may still be frames to read
  bool passed_on_ = false;  ///< libzmq has passed on all that came of it
  bool abandoned_ = false;  ///< by us: nothing of it is waited for
  bool up_ = false;         ///< as the caller has been told
};

}  // namespace stencil
