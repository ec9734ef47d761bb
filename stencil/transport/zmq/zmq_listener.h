#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "stencil/transport/stream/endpoint.h"
#include "stencil/transport/zmq/door.h"
#include "stencil/transport/zmq/outgoing.h"
#include "stencil/transport/zmq/port.h"

namespace stencil {

/// Whoever dials us: one ROUTER. A link appears with its first frame.
///
///   1. All frames of a connection are received before its end is reported. The monitor may report
///      the end before libzmq has passed on the last frames. libzmq has passed on all of them once
///      sending to the peer fails; the socket is then read until it is empty.
///   2. A connection ends in exactly one of two ways: as a link that goes down, or, if it has sent
///      no valid frame, as a stranger.
class ZmqListener final : public EventSource {
 public:
  /// Throws ConfigError (NetworkError) that names the endpoint and the cause.
  explicit ZmqListener(ZmqShared& shared);
  /// What waits is sent all the same, the linger at most.
  ~ZmqListener() override;

  [[nodiscard]] const std::string& endpoint() const { return listener_.endpoint(); }
  [[nodiscard]] bool has(LinkId link) const { return links_.contains(link); }
  /// Requires has(link).
  [[nodiscard]] SendStatus send(LinkId link, Frame&& frame);
  /// Forgets the link. ZeroMQ 4.3 cannot hang up on one peer: a frame that still comes from it
  /// opens a new one.
  void drop(LinkId link);
  std::optional<Received> next() override;
  /// A payload of some link has left libzmq. True where some link takes frames again.
  [[nodiscard]] bool hand_on();
  [[nodiscard]] bool idle() const;
  /// Looks after the door; next() is asked for where somebody may hold too much. Returns when to
  /// look again; Duration::max(): once somebody has come.
  [[nodiscard]] Duration look();
  /// See Door::held().
  [[nodiscard]] std::size_t held() const { return door_.held(); }
  /// The keys have changed. The links of one that was withdrawn end. A new pair of our own takes a
  /// new socket, and all links end: they are dialled again. Where there are no descriptors for it
  /// just then, they are waited for.
  void heed_keys(bool own_pair_changed);

 private:
  struct Link {
    std::string sender;  ///< its routing id
    int connection = -1;
    std::optional<PublicKey> key;
    std::optional<Rank> rank;  ///< whose key it is, by the keys as they are now
    std::uint64_t last_used = 0, sent = 0;
    Outgoing outgoing;
  };
  using Links = std::map<LinkId, Link>;

  void listen();
  /// Where it fails it is tried again, for as long as it takes.
  void listen_anew();
  void hear_monitor(bool anyway = false);
  /// libzmq has accepted it.
  void came(int connection);
  void let_in(int connection);
  [[nodiscard]] std::optional<Received> next_frame();
  void refuse(const Incoming& incoming);
  /// Tells why the door has hung up on somebody, where it has since the last time.
  void say_why();
  LinkId link_of(const std::string& sender);
  /// Whoever holds one key may have so many links; of more the one used longest ago ends.
  void bound_links_of(const PublicKey& key);
  /// Whether another one of those that have ended has no more to come than can be received now.
  [[nodiscard]] bool another_is_gone();
  void end_connection(int connection);
  /// kDown is reported of it.
  void end(LinkId link);
  void forget(Links::iterator link);

  ZmqShared& shared_;
  Listener listener_;
  Door door_;
  std::optional<Port> port_;  ///< nothing while there are no descriptors for one
  Alarm again_;               ///< for listen_anew()
  bool look_over_ = false;    ///< somebody may hold too much
  Door::Sent logged_;
  Links links_;
  std::unordered_map<std::string, LinkId> by_sender_;
  std::unordered_map<int, LinkId> by_connection_;  ///< 0: its link is forgotten
  /// Connections that have ended, and whether all their frames can be received.
  std::map<int, bool> closed_;
  std::deque<LinkId> down_;  ///< to report
  std::uint64_t uses_ = 0;
};

}  // namespace stencil
