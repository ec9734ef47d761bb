#include "stencil/sim/network.h"

#include <algorithm>
#include <charconv>

#include "stencil/core/error.h"

namespace stencil::sim {
namespace {

/// Frames that may be in flight in one direction before a link is "full".
constexpr std::size_t kQueueFrames = 256;

}  // namespace

struct Network::Link {
  Rank ranks[2] = {kNoRank, kNoRank};  ///< [0] dialled
  bool up = false;
  bool dropped = false;
  std::uint32_t life = 0;         ///< raised at each break, which loses the frames in flight
  TimePoint busy[2] = {};         ///< until when each direction is sending
  TimePoint last[2] = {};         ///< arrival of the last frame, to keep the order
  TimePoint bare[2] = {};         ///< arrival of the last frame without a payload
  Duration sending[2] = {};       ///< how long the last frame with a payload takes to send
  std::size_t under_way[2] = {};  ///< frames that the receiver has not taken
  bool wants_room[2] = {};        ///< a frame was refused since the receiver last took one

  [[nodiscard]] bool joins(Rank rank) const { return ranks[0] == rank || ranks[1] == rank; }
};

struct Network::Event {
  TimePoint when;
  std::uint64_t order;
  Rank to;
  LinkId link;
  std::uint32_t life;
  Received received;
  std::ptrdiff_t outage = -1;
  bool begins = false;
  bool room = false;  ///< nothing was received: a full link takes a frame again

  friend bool operator<(const Event& a, const Event& b) {
    return std::tie(b.when, b.order) < std::tie(a.when, a.order);
  }
};

class Network::End : public Transport {
 public:
  End(Network& network, Rank rank) : network_(network), rank_(rank) {}

  std::string endpoint() const override { return Network::endpoint(rank_); }
  LinkId dial(const PeerAddress& address) override {
    return network_.dial(rank_, address.endpoint);
  }
  void drop(LinkId link) override {
    if (link == 0 || link > network_.links_.size()) return;
    Link& l = network_.links_[link - 1];
    if (l.up) {
      const Rank other = l.ranks[0] == rank_ ? l.ranks[1] : l.ranks[0];
      network_.schedule(network_.now_, other, link, l.life, {LinkEvent::kDown, link, {}});
    }
    l.up = false;
    l.dropped = true;
  }
  SendStatus send(LinkId link, Frame&& frame) override {
    return network_.send(rank_, link, std::move(frame));
  }
  std::optional<Received> receive() override {
    if (inbox_.empty()) return std::nullopt;
    auto [received, life] = std::move(inbox_.front());
    inbox_.pop_front();
    Link& link = network_.links_[received.link - 1];
    if (received.event == LinkEvent::kFrame && life == link.life) {
      const int direction = link.ranks[0] == rank_ ? 1 : 0;
      --link.under_way[direction];
      if (std::exchange(link.wants_room[direction], false)) {
        network_.tell_of_room(link.ranks[direction]);
      }
    }
    return std::move(received);
  }
  TransportStats stats() const override { return stats_; }

  std::deque<std::pair<Received, std::uint32_t>> inbox_;  ///< with the link's life
  TransportStats stats_;
  bool ended_ = false;
  TimePoint busy_{};  ///< until when the worker's own interface is sending

 private:
  Network& network_;
  Rank rank_;
};

Network::Network(int workers, Model model, std::vector<Outage> outages, std::uint64_t seed,
                 double worker_bandwidth)
    : model_(std::move(model)),
      outages_(std::move(outages)),
      in_outage_(outages_.size()),
      random_(Random::derive(seed, 0x6e6574)),
      worker_bandwidth_(worker_bandwidth) {
  for (Rank rank = 0; rank < workers; ++rank) add();
  for (std::size_t i = 0; i < outages_.size(); ++i) {
    const auto at = [&](double time, bool begins) {
      queue_.push_back({TimePoint(seconds(time)),
                        events_++,
                        0,
                        0,
                        0,
                        {},
                        static_cast<std::ptrdiff_t>(i),
                        begins});
      std::ranges::push_heap(queue_, std::less<>());
    };
    at(outages_[i].from, true);
    if (outages_[i].to >= 0) at(outages_[i].to, false);
  }
}

Network::~Network() = default;

void Network::add() {
  ends_.push_back(std::make_unique<End>(*this, static_cast<Rank>(ends_.size())));
}

Transport& Network::transport(Rank rank) {
  return *ends_[rank];
}

std::string Network::endpoint(Rank rank) {
  return "sim:" + std::to_string(rank);
}

TimePoint Network::next() const {
  return queue_.empty() ? kNever : queue_.front().when;
}

void Network::schedule(TimePoint when, Rank to, LinkId link, std::uint32_t life,
                       Received received) {
  queue_.push_back({when, events_++, to, link, life, std::move(received)});
  std::ranges::push_heap(queue_, std::less<>());
}

void Network::tell_of_room(Rank sender) {
  queue_.push_back({.when = now_,
                    .order = events_++,
                    .to = sender,
                    .link = 0,
                    .life = 0,
                    .received = {},
                    .room = true});
  std::ranges::push_heap(queue_, std::less<>());
}

void Network::end(Rank rank) {
  ends_[rank]->ended_ = true;
  for (LinkId id = 1; id <= links_.size(); ++id) {
    Link& link = links_[id - 1];
    if (!link.joins(rank)) continue;
    if (link.up) disconnect(id);
    link.dropped |= link.ranks[0] == rank;
  }
  ends_[rank]->inbox_.clear();
}

void Network::come_back(Rank rank) {
  ends_[rank]->ended_ = false;
  ends_[rank]->inbox_.clear();
  for (LinkId id = 1; id <= links_.size(); ++id) {
    if (links_[id - 1].joins(rank) && !links_[id - 1].up) connect(id);
  }
}

bool Network::broken(Rank a, Rank b) const {
  if (ends_[a]->ended_ || ends_[b]->ended_) return true;
  for (std::size_t i = 0; i < outages_.size(); ++i) {
    const Outage& o = outages_[i];
    if (in_outage_[i] && ((o.a == a && o.b == b) || (o.a == b && o.b == a))) return true;
  }
  return false;
}

LinkId Network::dial(Rank from, const std::string& endpoint) {
  constexpr std::string_view kScheme = "sim:";
  Rank to = kNoRank;
  const char* begin = endpoint.data() + std::min(kScheme.size(), endpoint.size());
  std::from_chars(begin, endpoint.data() + endpoint.size(), to);
  if (!endpoint.starts_with(kScheme) || to < 0 || to >= static_cast<Rank>(ends_.size())) {
    throw ConfigError("no simulated worker at '" + endpoint + "'", "dial sim:RANK");
  }
  Link link;
  link.ranks[0] = from;
  link.ranks[1] = to;
  links_.push_back(link);
  connect(links_.size());
  return links_.size();
}

void Network::connect(LinkId id) {
  Link& link = links_[id - 1];
  if (link.dropped || broken(link.ranks[0], link.ranks[1])) return;
  link.up = true;
  ++link.life;
  link.last[0] = link.last[1] = link.busy[0] = link.busy[1] = now_;
  link.bare[0] = link.bare[1] = now_;
  link.under_way[0] = link.under_way[1] = 0;
  const LinkModel model = model_(link.ranks[0], link.ranks[1]);
  schedule(now_ + seconds(2 * model.latency), link.ranks[0], id, link.life,
           {LinkEvent::kUp, id, {}});
}

void Network::disconnect(LinkId id) {
  Link& link = links_[id - 1];
  link.up = false;
  ++link.life;
  for (const Rank rank : link.ranks) {
    if (!ends_[rank]->ended_) schedule(now_, rank, id, link.life, {LinkEvent::kDown, id, {}});
  }
}

SendStatus Network::send(Rank from, LinkId id, Frame&& frame) {
  if (id == 0 || id > links_.size()) return SendStatus::kDown;
  Link& link = links_[id - 1];
  if (!link.up) return SendStatus::kDown;
  const int direction = link.ranks[0] == from ? 0 : 1;
  if (link.under_way[direction] >= kQueueFrames) {
    link.wants_room[direction] = true;
    return SendStatus::kFull;
  }
  const LinkModel model = model_(link.ranks[0], link.ranks[1]);
  const std::size_t bytes = frame.header.size() + view(frame.payload).size();
  const auto sending = [bytes](double bandwidth) {
    return bandwidth > 0 ? seconds(static_cast<double>(bytes) / bandwidth) : Duration{};
  };
  End& sender = *ends_[from];
  sender.busy_ = std::max(sender.busy_, now_) + sending(worker_bandwidth_);
  link.busy[direction] =
      std::max(sender.busy_, std::max(link.busy[direction], now_) + sending(model.bandwidth));
  const Duration travel = seconds(model.latency) + seconds(model.jitter * random_.uniform());
  const bool bare = !frame.payload;
  TimePoint& last = link.last[direction];
  TimePoint arrival = std::max(link.busy[direction] + travel, last);
  if (frame.urgent) {
    // After the payload that is being sent, before those that wait.
    const TimePoint soon = now_ + link.sending[direction] + sending(model.bandwidth);
    arrival = std::max(std::min(link.busy[direction], soon) + travel, link.bare[direction]);
  }
  last = std::max(arrival, last);
  if (bare) {
    link.bare[direction] = arrival;
  } else {
    link.sending[direction] = std::max(sending(model.bandwidth), sending(worker_bandwidth_));
  }
  ++link.under_way[direction];
  ++sender.stats_.frames_sent;
  sender.stats_.bytes_sent += bytes;
  schedule(arrival, link.ranks[1 - direction], id, link.life,
           {LinkEvent::kFrame, id, std::move(frame)});
  return SendStatus::kSent;
}

void Network::set_outage(std::size_t index, bool begins) {
  const Outage& outage = outages_[index];
  in_outage_[index] = begins;
  for (LinkId id = 1; id <= links_.size(); ++id) {
    const Link& link = links_[id - 1];
    if (!link.joins(outage.a) || !link.joins(outage.b) || link.dropped) continue;
    if (begins && link.up) {
      disconnect(id);
    } else if (!begins && !link.up) {
      connect(id);
    }
  }
}

void Network::deliver(TimePoint now, std::vector<Rank>& woken) {
  now_ = now;
  while (!queue_.empty() && queue_.front().when <= now) {
    std::ranges::pop_heap(queue_, std::less<>());
    Event event = std::move(queue_.back());
    queue_.pop_back();
    if (event.outage >= 0) {
      set_outage(static_cast<std::size_t>(event.outage), event.begins);
      continue;
    }
    if (event.room) {
      woken.push_back(event.to);
      continue;
    }
    const Link& link = links_[event.link - 1];
    const bool frame = event.received.event == LinkEvent::kFrame;
    if (event.life != link.life) continue;
    End& end = *ends_[event.to];
    if (frame) {
      ++end.stats_.frames_received;
      end.stats_.bytes_received +=
          event.received.frame.header.size() + view(event.received.frame.payload).size();
    }
    end.inbox_.emplace_back(std::move(event.received), event.life);
    woken.push_back(event.to);
  }
}

}  // namespace stencil::sim
