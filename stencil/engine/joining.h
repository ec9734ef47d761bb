#pragma once

#include <cstdint>
#include <map>

#include "stencil/engine/handshake.h"
#include "stencil/engine/puller.h"
#include "stencil/engine/self.h"
#include "stencil/engine/start_copy.h"

namespace stencil {

/// How a worker begins. Invariants:
///
///  1. A newcomer copies the whole model of an established neighbour. Where all neighbours are
///     newcomers too, it begins with initial weights.
///  2. It waits a moment for neighbours that have sent nothing yet, and for none where all have
///     left.
///  3. Where the copy breaks off, the copied part is discarded. The worker keeps looking, or begins
///     with its own model (give_up()).
///  4. A worker that has trained, in this life or before, copies only a neighbour that it is far
///     behind (EngineConfig::far_behind()), and does so whenever it meets such a neighbour. One
///     that resumes copies, before its first step, a neighbour that has trained on meanwhile
///     (EngineConfig::has_missed()). Claims that are not believed are no reason: see believes() and
///     EngineConfig::most_progress.
///
/// Initial weights (EngineConfig::lowest_initial; otherwise weights that differ are refused):
///
///  5. Before its first step a newcomer takes over the weights of the neighbour that tells of the
///     lowest Origin, and tells its neighbours, so the weights of rank 0 walk over the grid. It
///     takes them bit for bit, all at once: until the last bucket has come it holds, and serves,
///     those that it had. Telemetry is not taken over: it says what each worker brings.
///  6. Weights that are equal, by their hash, do not travel; that rank 0 holds them does, from
///     neighbour to neighbour. Weights that come and have another hash than was told are not taken
///     over. They are asked for again twice, then no more of that life of the neighbour.
///  7. It begins once it and all neighbours hold the weights of rank 0, which are final, whatever
///     the neighbours held before. If those weights do not arrive, it begins with the weights of
///     the lowest origin that has arrived: when it gives up waiting (give_up()), or a moment after
///     a neighbour with the same weights has begun. In lock step no worker begins before all its
///     neighbours have been heard.
///  8. Whoever has begun keeps what it has. Weights of a lower origin that come later count no
///     more: the one that brings them is a newcomer to an established neighbour (1.). Workers of
///     two origins that have both begun average, and say so (compare_origins()).
///  9. For a model that was trained before (EngineConfig::trained) no initial weights are taken
///     over; newcomers of other weights copy it once its worker has begun.
///
/// One thread.
class Joining {
 public:
  Joining(Self& self, Handshake& handshake, Puller& puller)
      : self_(self), handshake_(handshake), puller_(puller), origin_(self.config.hello.initial()) {}

  /// An edge was synchronised.
  void on_synchronised(TimePoint now);
  /// Whether this worker trains and its model is, by what both have greeted with, far behind the
  /// neighbour's.
  [[nodiscard]] bool behind(const Neighbour& neighbour) const {
    return self_.training() && far_behind(neighbour.life.told, neighbour);
  }
  /// Whether the worker gives up what it has trained for the neighbour that it is behind(). Not for
  /// one that comes with a saved model, a newcomer that has made no step by the `header` of its
  /// Hello, while this worker trains together with others: a stale checkpoint does not win over a
  /// living grid. Nor for one that has told of its model before and did not serve it.
  [[nodiscard]] bool believes(Neighbour& neighbour, const MessageHeader& header, Actions& out);
  /// Makes the worker a newcomer again, whatever it has trained.
  void start_over();
  /// Tells, once for each of the neighbour's lives, that both began from other initial weights and
  /// neither is taking over the other's model.
  void compare_origins(TimePoint now, Neighbour& neighbour, Actions& out) const;
  /// Decides whether the worker may begin, or whom it copies. Call it after every input.
  void consider(TimePoint now, Actions& out);
  /// A newcomer asks for a copy of what this worker holds; its pulls name no round.
  void on_pull(const Neighbour& neighbour, const Pull& pull, Actions& out) const {
    if (!serves() || pull.bucket >= everything()) return;
    out.push_back(action::Serve{neighbour.rank, pull.bucket, pull.round});
  }
  /// A snapshot that this newcomer asked for. Returns true when the worker begins with it.
  [[nodiscard]] bool on_snapshot(TimePoint now, const Neighbour& neighbour,
                                 const Snapshot& snapshot, Actions& out);
  /// All initial weights have come that this newcomer asked the neighbour for, and have this hash.
  void on_start_hashed(TimePoint now, const Neighbour& neighbour, std::uint64_t hash, Actions& out);
  /// Goes on with the own model, since no neighbour's model could be copied in time.
  void give_up(TimePoint now, Actions& out);
  /// When consider() must be called at the latest.
  [[nodiscard]] TimePoint next() const;

  /// The source of the model when joining ended: a neighbour's rank; or kNoRank where it began with
  /// initial weights.
  [[nodiscard]] Rank joined_from() const { return joined_from_; }
  /// The neighbour whose initial weights were taken over last; kNoRank where none were.
  [[nodiscard]] Rank initial_by() const { return initial_by_; }
  /// How often a neighbour's model, or its initial weights, were adopted.
  [[nodiscard]] std::uint64_t adopted() const { return adopted_; }
  /// Whether a neighbour's model is being copied; and its buckets received so far.
  [[nodiscard]] bool copying() const {
    return self_.state == WorkerState::kJoining && puller_.plan().active();
  }
  [[nodiscard]] std::uint64_t copied() const { return copied_; }
  /// Bytes of initial weights that have come and wait for the rest.
  [[nodiscard]] std::size_t held() const { return coming_.held(); }

  /// See Engine::fields().
  template <typename A, typename T>
  static void fields(A& a, T& v) {
    a(v.origin_, v.first_heard_, v.joined_from_, v.initial_by_, v.copying_from_, v.copied_,
      v.adopted_, v.not_served_, v.following_, v.stale_, v.copies_initial_, v.coming_);
  }

 private:
  /// What the neighbours' greetings tell.
  struct Around {
    bool all_heard = true, all_left = true;
    bool fellow = false;           ///< one that this worker may begin with
    bool ahead = false;            ///< one that it is far behind
    bool awaited = false;          ///< following_, which greets anew and is not heard yet
    bool differing = false;        ///< one of other weights, which either end has to take over
    bool alike_begun = false;      ///< one of the same weights has begun
    Rank nearest = kNoRank;        ///< the lowest origin of the same weights
    Neighbour* model = nullptr;    ///< established: to be copied
    Neighbour* initial = nullptr;  ///< with the lowest initial weights, which are below ours
  };
  [[nodiscard]] Around look() const;
  /// Whether a newcomer may have a copy.
  [[nodiscard]] bool serves() const {
    if (self_.state != WorkerState::kJoining) return true;
    return self_.untrained() && (copies_initial_ || !puller_.plan().active());
  }
  [[nodiscard]] bool established(const Neighbour& neighbour) const;
  [[nodiscard]] bool may_begin(const Around& around, bool waited) const;
  /// Whether the present copy goes on.
  [[nodiscard]] bool copies_on(const Around& around) const;
  /// The buckets of a copy, with what is carried.
  [[nodiscard]] std::uint32_t everything() const {
    return self_.config.buckets + self_.config.carried;
  }
  [[nodiscard]] bool trains_with_others(const Neighbour& but) const;
  /// Whether the neighbour's word is still good.
  [[nodiscard]] bool trusted(Rank rank) const;
  void note_not_served();
  void discard(Actions& out);
  void copy(TimePoint now, const Neighbour& from, bool initial, Actions& out);
  void hold(TimePoint now, const Neighbour& from, Actions& out);
  void set_origin(const Origin& origin);
  void begin_with(TimePoint now, Rank from, Actions& out);
  /// Whether this worker may take over initial weights.
  [[nodiscard]] bool asked() const {
    return self_.config.lowest_initial && !self_.config.trained && self_.untrained();
  }
  [[nodiscard]] bool far_behind(const Neighbour& neighbour) const {
    return far_behind(self_.config.hello.progress, neighbour);
  }
  [[nodiscard]] bool far_behind(double ours, const Neighbour& neighbour) const {
    const double theirs = neighbour.life.progress;
    return self_.config.far_behind(ours, theirs) ||
           (self_.step() == 0 && self_.config.has_missed(ours, theirs));
  }

  Self& self_;
  Handshake& handshake_;
  Puller& puller_;
  Origin origin_;  ///< in our Hello unless a neighbour's model is, or was, copied
  TimePoint first_heard_ = kNever;
  Rank joined_from_ = kNoRank, initial_by_ = kNoRank;
  Rank copying_from_ = kNoRank;  ///< the neighbour whose buckets came last
  std::uint64_t copied_ = 0, adopted_ = 0;
  /// Neighbours that told of a model and did not serve it in time: how often; twice for one of
  /// which nothing came.
  std::map<Rank, int> not_served_;
  Rank following_ = kNoRank;      ///< for whom this worker gave up what it had trained
  std::map<Rank, LifeId> stale_;  ///< that came with a saved model of another past
  bool copies_initial_ = false;
  StartCopy coming_{self_};  ///< while initial weights are copied
};

}  // namespace stencil
