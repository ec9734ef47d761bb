#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stencil/core/types.h"
#include "stencil/transport/transport.h"

namespace stencil {

/// Where a neighbour can be dialled now; nothing while that is unknown. Asked again and again, so
/// that a neighbour may come up later, or elsewhere.
using Resolver = std::function<std::optional<std::string>(Rank)>;

/// Which connection serves which edge. One end of an edge suffices to dial; where both did, the
/// connection dialled by the higher rank stays, which both ends decide alike. One thread.
class LinkBook {
 public:
  LinkBook(Rank self, std::span<const Rank> neighbours, Transport& transport, Resolver resolver,
           LogSink log);

  /// Dials neighbours without a connection, at most once in `kDialEvery`, and names those that
  /// stay out of reach. Returns when to be called again.
  TimePoint tend(TimePoint now);

  [[nodiscard]] std::optional<Rank> rank_of(LinkId link) const;  ///< in service only
  [[nodiscard]] LinkId link_of(Rank rank) const;                 ///< 0: none in service

  /// A link that we dialled is up. The neighbour it now serves; nothing where a better one stays.
  std::optional<Rank> dialled_up(LinkId link);
  /// Somebody who dialled us proved to be `rank`. True when that link now serves the edge.
  bool accept(LinkId link, Rank rank);
  /// The edge that just lost its link, if `link` was in service.
  std::optional<Rank> down(LinkId link);

  static constexpr Duration kDialEvery = std::chrono::milliseconds(500);
  static constexpr Duration kComplainAfter = std::chrono::seconds(5);
  static constexpr Duration kComplainAgain = std::chrono::seconds(30);

 private:
  struct Entry {
    Rank rank = kNoRank;
    LinkId in_service = 0;
    LinkId dialled = 0;
    std::string endpoint;  ///< of `dialled`; or the one that cannot be dialled
    TimePoint lost_since{};
    TimePoint complain_at{};
    bool undiallable = false;  ///< `endpoint`, which was named in the log
  };
  Entry* find(Rank rank);
  void dial(Entry& entry, const std::string& endpoint);

  Rank self_;
  Transport& transport_;
  Resolver resolver_;
  LogSink log_;
  std::vector<Entry> entries_;
  TimePoint next_dial_{};
  bool started_ = false;
};

}  // namespace stencil
