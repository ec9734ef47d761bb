#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "stencil/core/types.h"

namespace stencil {

/// Pulls of whole models, bucket by bucket: of one neighbour when joining, of all of them in rank
/// order in each lock-step round. At most `window` buckets are in work at a time, each with one
/// outstanding pull, so that sums are formed in rank order without keeping payloads.
class PullPlan {
 public:
  struct Pull {
    std::uint32_t bucket = 0;
    Rank rank = kNoRank;
    TimePoint since{};
    template <typename A, typename T>
    static void fields(A& a, T& v) {
      a(v.bucket, v.rank, v.since);
    }
  };

  PullPlan(std::uint32_t buckets, std::uint32_t window) : buckets_(buckets), window_(window) {}

  /// Begins to pull every bucket, and `more` that follow them, from each of `sources` in turn.
  void start(std::uint64_t round, std::span<const Rank> sources, std::uint32_t more = 0);
  /// Stops, complete or not. No pull is outstanding then.
  void stop();

  [[nodiscard]] bool active() const { return active_; }
  [[nodiscard]] std::uint64_t round() const { return round_; }
  [[nodiscard]] const std::vector<Rank>& sources() const { return sources_; }

  /// The next pull to send, while the window has room.
  std::optional<Pull> next(TimePoint now);

  /// Returns true where (rank, bucket, round) is an outstanding pull. That pull is then complete,
  /// and the bucket's next source becomes due. Returns false for a snapshot that was not asked for
  /// or is a duplicate.
  bool complete(Rank rank, std::uint32_t bucket, std::uint64_t round);

  /// Pulls outstanding with this neighbour must be sent again (its link is new).
  void repeat(Rank rank);
  /// Pulls outstanding since before `then`, each to be sent again; their time is set to `now`.
  std::vector<Pull> overdue(TimePoint then, TimePoint now);
  /// The time of the oldest pull outstanding.
  [[nodiscard]] TimePoint oldest() const;
  /// Neighbours with a pull outstanding, for messages.
  [[nodiscard]] std::vector<Rank> awaited() const;

  [[nodiscard]] bool finished() const {
    return active_ && in_work_.empty() && to_ask_.empty() && begun_ == total_;
  }

  /// See Engine::fields().
  template <typename A, typename T>
  static void fields(A& a, T& v) {
    a(v.active_, v.round_, v.sources_, v.total_, v.begun_, v.in_work_, v.to_ask_);
  }

 private:
  struct Work {
    Pull pull;
    std::size_t source = 0;
    template <typename A, typename T>
    static void fields(A& a, T& v) {
      a(v.pull, v.source);
    }
  };
  std::uint32_t buckets_, window_;
  bool active_ = false;
  std::uint64_t round_ = 0;
  std::vector<Rank> sources_;
  std::uint32_t total_ = 0, begun_ = 0;  ///< buckets
  std::vector<Work> in_work_;            ///< sent, awaiting a snapshot
  std::vector<Work> to_ask_;             ///< to be sent
};

}  // namespace stencil
