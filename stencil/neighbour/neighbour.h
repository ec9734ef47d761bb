#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "stencil/core/message.h"
#include "stencil/core/states.h"
#include "stencil/core/types.h"
#include "stencil/neighbour/sequence_book.h"
#include "stencil/neighbour/steps.h"

namespace stencil {

/// The neighbour's present life, and the present connection as both ends number it.
///
/// Epochs make a broken connection harmless. The end that begins anew (after a new link, a gap, or
/// a missing reply) raises its own epoch and sends Hello until the other's Hello carries that epoch
/// back. A frame counts only if it carries both ends' present epochs. The counters in a Hello are
/// acted on only if it carries our present epoch: its sender then accepts nothing older, so its
/// counters of our offers are final. Which of two is far behind, too, both judge by what the Hellos
/// of these two epochs tell, so that they agree.
struct Life {
  std::uint32_t our_epoch = 0;
  std::uint32_t their_epoch = 0;  ///< 0: none known
  bool acknowledged = false;      ///< their Hello carried our_epoch and was acted on
  bool greeted = false;           ///< a Hello of ours carried their_epoch
  LifeId id;                      ///< theirs
  std::uint64_t generation = 0;   ///< theirs; 0: none known
  std::string host;
  TimePoint greeted_at{};     ///< when its present life was first greeted
  TimePoint taken_since{};    ///< since when they say that another process has our rank; or unset
  Origin initial;             ///< as they last said
  double progress = 0;        ///< see Hello::progress; as of the last link
  double told = 0;            ///< our progress, as all Hellos of these two epochs tell it
  bool behind = false;        ///< it was far behind us then and may still begin anew
  bool doubted = false;       ///< it told us then of progress that is not believed
  bool fresh = false;         ///< a newcomer when its present life sent us its first Hello
  bool other_origin = false;  ///< it began from other initial weights, as has been said
  bool ever_heard = false;    ///< any of its lives
  std::uint64_t raised = 0;   ///< added to our generation on this edge
};

/// What the neighbour last said of itself.
struct Report {
  WorkerState state = WorkerState::kJoining;
  Steps steps;
  std::uint32_t settled_hops = 0;
  std::uint64_t number = 0;  ///< MessageHeader::number of the message that the three above are of
  std::uint64_t first_batch = 0;    ///< see Heartbeat
  std::uint64_t grid = 0;           ///< likewise
  TimePoint grid_differs = kNever;  ///< since when it is another than ours
  bool grid_told = false;           ///< that was counted and told
};

/// Mode bounded: how the neighbour's steps hold up ours.
struct Pace {
  bool limits = false;           ///< Neighbour::in_pace() as of their last message
  std::uint64_t head_start = 0;  ///< our steps ahead of theirs that do not count
  std::uint64_t swept_step = 0;  ///< our step at the last completed sweep

  /// Call it at each message of theirs. A neighbour that joins or returns while we are ahead by
  /// more than the mode's bound is not waited for until it has caught up: our lead (head_start)
  /// does not count, and shrinks as the neighbour catches up.
  void note(bool in_pace, std::uint64_t our_step, std::uint64_t their_step, std::uint64_t bound) {
    const std::uint64_t ahead = our_step > their_step ? our_step - their_step : 0;
    if (!limits) head_start = ahead > bound ? ahead : 0;
    head_start = std::min(head_start, ahead);
    limits = in_pace;
  }
};

/// When something last happened on the edge.
struct EdgeTimes {
  TimePoint heard{};  ///< any valid frame
  TimePoint moved{};  ///< an offer, a reply or a snapshot of theirs
  TimePoint sent{};   ///< any frame of ours
  TimePoint hello_sent{};
  TimePoint swept{};  ///< a sweep of ours completed
};

/// All that the engine keeps of one neighbour; made and destroyed with the edge. Plain data with a
/// few derived questions. Each part is changed by the class of engine/ that decides about it, and
/// by nobody else. What the runtime keeps is an Edge (runtime/edge.h). Background thread.
struct Neighbour {
  explicit Neighbour(Rank rank) : rank(rank) {}
  Neighbour(const Neighbour&) = delete;
  Neighbour& operator=(const Neighbour&) = delete;

  const Rank rank;
  double weight = 0;  ///< in lock step, see MixingWeights

  LinkState state = LinkState::kConnecting;
  bool has_link = false;  ///< the transport can carry frames
  Life life;
  Report report;
  double unlike = 0;  ///< 1 - likeness() of its steps and ours in length, as of our last boundary
  Pace pace;
  EdgeTimes times;
  SequenceBook book;
  std::uint64_t sweeps = 0;     ///< completed, begun by us
  std::uint64_t ask_order = 0;  ///< for "asked longest ago", free of clock resolution
  Duration round_trip{};        ///< of a bucket, decayed mean; 0 before the first
  bool shared = false;          ///< the model's buckets are averaged in shared memory
  bool retiring = false;        ///< to be removed once everything in flight is complete

  [[nodiscard]] bool up() const { return state == LinkState::kUp && life.acknowledged && has_link; }
  /// May be asked for an exchange.
  [[nodiscard]] bool askable() const {
    return up() && !retiring && !life.behind && !life.doubted &&
           (report.state == WorkerState::kTraining || report.state == WorkerState::kSettling ||
            report.state == WorkerState::kSettled);
  }
  /// Counts as alive for waiting and settling.
  [[nodiscard]] bool living() const {
    return state == LinkState::kUp || state == LinkState::kSuspect;
  }
  /// Mode bounded: their steps hold up ours.
  [[nodiscard]] bool in_pace() const {
    return state == LinkState::kUp && report.state == WorkerState::kTraining;
  }
};

}  // namespace stencil
