#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "stencil/core/random.h"
#include "stencil/transport/transport.h"

namespace stencil::sim {

/// The properties of one connection; may differ per edge.
struct LinkModel {
  double latency = 0.001;  ///< seconds, one way
  double jitter = 0;       ///< up to this much more, uniformly, per frame; order is kept, but
                           ///< for urgent frames, which go before payloads that wait
  double bandwidth = 0;    ///< bytes a second each way; 0: unlimited
};

/// A time during which an edge carries nothing; frames in flight are lost.
struct Outage {
  Rank a = kNoRank, b = kNoRank;
  double from = 0, to = 0;  ///< seconds; to < 0: for ever
};

/// The network of a simulation: transports of N workers whose frames arrive after a modelled time,
/// in order per direction. Deterministic in its seed. The owner calls deliver() as time advances.
class Network {
 public:
  using Model = std::function<LinkModel(Rank, Rank)>;

  /// `worker_bandwidth` is the rate at which each worker can send over all its connections, in
  /// bytes a second; 0: unlimited.
  Network(int workers, Model model, std::vector<Outage> outages, std::uint64_t seed,
          double worker_bandwidth = 0);
  ~Network();

  /// Adds a worker, with the next rank.
  void add();
  /// The worker's process ended: its connections break, and nobody can dial it until come_back().
  void end(Rank rank);
  void come_back(Rank rank);
  [[nodiscard]] Transport& transport(Rank rank);
  /// The address under which `rank` is dialled.
  [[nodiscard]] static std::string endpoint(Rank rank);

  /// When the next event is due; kNever: none.
  [[nodiscard]] TimePoint next() const;
  /// Moves all frames due at `now` into the receivers' queues; appends the ranks that got any.
  void deliver(TimePoint now, std::vector<Rank>& woken);

 private:
  class End;
  struct Event;
  struct Link;
  void schedule(TimePoint when, Rank to, LinkId link, std::uint32_t life, Received received);
  LinkId dial(Rank from, const std::string& endpoint);
  SendStatus send(Rank from, LinkId link, Frame&& frame);
  void tell_of_room(Rank sender);
  void set_outage(std::size_t index, bool begins);
  [[nodiscard]] bool broken(Rank a, Rank b) const;
  void connect(LinkId link);
  void disconnect(LinkId link);

  Model model_;
  std::vector<Outage> outages_;
  std::vector<bool> in_outage_;
  Random random_;
  double worker_bandwidth_;
  TimePoint now_{};
  std::vector<std::unique_ptr<End>> ends_;
  std::vector<Link> links_;
  std::vector<Event> queue_;  ///< a heap, earliest first
  std::uint64_t events_ = 0;
};

}  // namespace stencil::sim
