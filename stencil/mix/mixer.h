#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "stencil/codec/codec.h"
#include "stencil/core/followers.h"
#include "stencil/core/frame.h"
#include "stencil/core/layout.h"
#include "stencil/mix/edge_codec.h"
#include "stencil/mix/lent.h"
#include "stencil/mix/set_aside.h"
#include "stencil/mix/team.h"
#include "stencil/mix/telemetry.h"
#include "stencil/shared/segment.h"
#include "stencil/threads/mutex.h"
#include "stencil/threads/thread_check.h"

namespace stencil {

/// What one step boundary did.
struct FoldReport {
  std::size_t folded = 0;    ///< buckets gone over
  std::size_t deferred = 0;  ///< buckets that were locked at both tries
  bool finite = true;        ///< false: a parameter of the worker's own is NaN or infinite
};

/// What an exchange on one bucket did. `applied` false means that nothing was changed, except that
/// average_shared() may have averaged the blocks before one that is not finite, at both ends alike.
struct MixReport {
  bool applied = false;
  double distance2 = 0;     ///< |theirs - ours|^2 over the bucket; 0 for telemetry
  double norm2 = 0;         ///< |ours|^2 where it was at hand, else 0
  int divisor = 0;          ///< average_shared(): each end moved by the difference / divisor
  std::size_t refused = 0;  ///< scalars of the telemetry left as they were: see bound_scalars()
  /// Why nothing was changed.
  enum class Why : std::uint8_t {
    kNotFinite,
    kLocked,     ///< another process holds the bucket
    kBusy,       ///< it has answered enough while its own request is open, or takes no part
    kMalformed,  ///< the payload does not fit this bucket
  };
  Why why = Why::kNotFinite;

  [[nodiscard]] static MixReport locked() { return {.why = Why::kLocked}; }
  [[nodiscard]] static MixReport of(const edge_delta::Outcome& outcome) {
    return {.applied = outcome.finite,
            .distance2 = outcome.distance2,
            .norm2 = outcome.norm2,
            .why = outcome.malformed ? Why::kMalformed : Why::kNotFinite};
  }
};

/// The memory of the exchange, y and p (as large as the model each), and the operations on it.
/// Arithmetic only: no I/O, no time, no neighbours. Buckets 0 .. layout.bucket_count()-1 hold the
/// model; one more, telemetry_bucket(), holds float64 scalars that pass no codec. The first of them
/// counts a worker's steps, so that their mean is known to all.
///
/// Threads: fold*, lend, take_back, publish*, collect* belong to the training thread and its team,
/// all others, fold_lent() among them, to the background thread; builds that check threads
/// (thread_check.h) throw InvariantError where two threads are in operations of the same half. The
/// two share one lock per bucket, held for one pass over that bucket. The training thread never
/// waits for a lock in fold(): it tries a locked bucket once more at the end and then leaves it for
/// the next boundary, which keeps z = y + p correct.
///
/// Where the memory is shared, neighbours on the same host take these locks too. A neighbour may be
/// stopped while it holds one; no operation waits for it then, but reports kLocked.
class Mixer {
 public:
  /// `initial` is x at the start (layout.size() floats), `telemetry` the scalars' start values.
  Mixer(const Layout& layout, std::span<const float> initial, std::span<const double> telemetry);
  /// Uses memory made for this layout, which may be shared. `threads` threads, the training thread
  /// among them, share a boundary's work where the model is large enough for that to pay.
  Mixer(const Layout& layout, std::span<const float> initial, std::span<const double> telemetry,
        Segment segment, int threads = 1);

  [[nodiscard]] const Layout& layout() const { return layout_; }
  [[nodiscard]] std::uint32_t telemetry_bucket() const {
    return static_cast<std::uint32_t>(layout_.bucket_count());
  }
  /// All buckets, including the telemetry's.
  [[nodiscard]] std::uint32_t bucket_count() const { return telemetry_bucket() + 1; }
  /// Values of a bucket; 0 for the telemetry's.
  [[nodiscard]] std::size_t floats(std::uint32_t bucket) const;
  /// Bytes of the scalars on the wire, which pass no codec.
  [[nodiscard]] std::size_t telemetry_bytes() const { return scalars_ * sizeof(double); }
  /// What honest work can have brought each scalar to at most, in magnitude: whatever a neighbour
  /// sends that would bring one beyond is not taken (MixReport::refused). Infinity, as for all
  /// before this is called: it may be any number. Call it before the first exchange.
  void bound_scalars(std::vector<double> most);

  // Edge-delta: see edge_delta.h. The payload sizes are checked by the caller.
  /// Where nothing has come for a bucket since its last fold, p is neither read nor written.
  FoldReport fold(std::span<float> x);
  /// The same for buckets `from` .. `to` - 1 only; `x` is the whole model.
  FoldReport fold(std::span<float> x, std::uint32_t from, std::uint32_t to);
  /// The same where `x` is as the last fold left it from bucket `unchanged` on: of these it goes
  /// over those alone for which something has come since, or that were locked then. What comes
  /// while it runs it may leave to the next fold.
  FoldReport fold_news(std::span<float> x, std::uint32_t unchanged = 0);
  /// The same for buckets `from` .. `to` - 1 only, none of which has changed.
  FoldReport fold_news_of(std::span<float> x, std::uint32_t from, std::uint32_t to);
  /// Lends those buckets of x whose flag is not 0, and what follows them, to the background thread,
  /// which folds what comes for them: whoever waits to use x then finds the pass over memory made.
  /// All folds of the training thread take back what they go over, and report what fold_lent() has
  /// found since. `x` is the whole model.
  void lend(std::span<float> x, std::span<const std::uint8_t> buckets);
  /// Buckets `from` .. `to` - 1 are the training thread's again.
  void take_back(std::uint32_t from, std::uint32_t to);
  /// Background thread: folds what has come for buckets that are lent and `complete`.
  template <typename Complete>
  void fold_lent(Complete complete) {
    if (!lent_.any()) return;
    for (std::uint32_t b = 0; b < telemetry_bucket(); ++b) {
      if (lent_.is_lent(b) && segment_.control(b).came != 0 && complete(b)) fold_one_lent(b);
    }
  }
  /// What follows the moves of x from now on, in fold() and collect(); it must outlive this.
  /// Call it before there are any.
  void follow(Followers& followers);
  /// These; null where nothing follows. Training thread.
  [[nodiscard]] Followers* followers() const { return followers_; }
  /// x as of the last boundary, or of the last fold of its bucket: what the worker's own step has
  /// changed since then is undone. Training thread.
  void undo_step(std::span<float> x) const { std::ranges::copy(segment_.y(), x.begin()); }
  // `codec` is the neighbour's, or the exact one. The telemetry's bucket does not use it.
  MixReport offer(std::uint32_t bucket, EdgeCodec& codec, std::span<std::byte> out);
  // `aside`: the share of what it moves that followers do not take in.
  MixReport answer(std::uint32_t bucket, EdgeCodec& codec, std::span<const std::byte> offer,
                   int divisor, std::span<std::byte> reply, double aside = 0);
  /// `offer` is the payload of our offer that this reply answers.
  MixReport complete(std::uint32_t bucket, EdgeCodec& codec, std::span<const std::byte> offer,
                     std::span<const std::byte> reply, int divisor, double aside = 0);
  MixReport merge(std::uint32_t bucket, EdgeCodec& codec, CodedOffer ours, CodedOffer theirs,
                  double aside = 0);

  // For newcomers: exact, in fp32.
  /// Writes what an offer would show, for a newcomer to adopt: y bit for bit where nothing has
  /// come. It opens no request.
  MixReport copy(std::uint32_t bucket, std::span<std::byte> out);
  /// Adopts a neighbour's values; x follows at the next fold.
  MixReport adopt(std::uint32_t bucket, std::span<const std::byte> s);
  /// Takes a neighbour's initial values bit for bit; x follows by undo_step(). Only before the
  /// training thread's first fold. Not for the telemetry's bucket.
  MixReport begin_with(std::uint32_t bucket, std::span<const std::byte> s);
  /// y as an edge that begins now shows it first, each bucket under its lock; 0 in those that
  /// another process holds.
  [[nodiscard]] std::vector<float> copy_y();
  /// Tells `codec` that this bucket was adopted, so nothing in it is new to its neighbour.
  void adopted(std::uint32_t bucket, EdgeCodec& codec);
  /// Forgets what has been agreed since the last boundary: z is x again.
  MixReport discard(std::uint32_t bucket);

  /// Averages with a neighbour's memory, both ends at once. It counts as a request of ours that is
  /// complete at once, so no other request of ours may be open on this bucket; the neighbour's end
  /// follows the same rule as an answer. The lock of the lower rank is taken first. `aside` is of
  /// our end.
  MixReport average_shared(std::uint32_t bucket, Segment& theirs, bool theirs_first,
                           double aside = 0);
  /// Closes our request on this bucket, which offer() opened.
  void close_request(std::uint32_t bucket);

  // Lock-step: see lock_step.h. Call publish() only when every neighbour has pulled the round
  // before, and collect() only when every neighbour was absorbed.
  FoldReport publish(std::span<const float> x, std::span<const double> telemetry,
                     const Codec& codec, double self_weight);
  MixReport snapshot(std::uint32_t bucket, const Codec& codec, std::span<std::byte> out);
  MixReport absorb(std::uint32_t bucket, const Codec& codec, std::span<const std::byte> s,
                   double weight);
  void collect(std::span<float> x, std::span<double> telemetry);

  /// Folds the scalars: x += p; y = x; p = 0, each scalar checked by itself. Training thread.
  void fold_telemetry(std::span<double> x);

  /// z = y + p of the whole model, for tests and the simulator's statistics. Waits for every lock.
  void read_z(std::span<float> z) const;
  void read_telemetry_z(std::span<double> z) const;
  /// How often the scalars were averaged with a neighbour's by message.
  [[nodiscard]] std::uint64_t telemetry_exchanges() const { return telemetry_exchanges_; }
  /// Steps that a worker has made, in the mean over all, as far as word has come.
  [[nodiscard]] double steps_known() const;

  [[nodiscard]] Segment& segment() { return segment_; }
  /// Bytes of what followers are not to take in; see SetAside. Background thread.
  [[nodiscard]] std::size_t aside_bytes() const { return aside_.bytes(); }
  /// How often a boundary could not fold a bucket and left it to the next boundary.
  [[nodiscard]] std::uint64_t deferred() const { return deferred_; }
  /// The neighbour that has held such a bucket since the last boundary; kNoRank where there is
  /// none.
  [[nodiscard]] Rank lock_holder() const { return lock_holder_; }
  /// Locks taken over from processes that died holding them.
  [[nodiscard]] std::uint64_t inherited_locks() const { return inherited_; }

 private:
  /// Something has come for this bucket since its last fold, or it was locked then.
  [[nodiscard]] bool has_news(std::uint32_t bucket);
  void fold_one_lent(std::uint32_t bucket);
  /// Folds the buckets of to_fold_.
  FoldReport fold_due(std::span<float> x);

  // `guard` holds the lock of the bucket. (Clang's analysis knows no locks in an array, nor one
  // that may not be had.)
  /// Throws InvariantError where it does not, in builds that check threads.
  void check(const BucketGuard& guard, std::uint32_t bucket) const;
  /// `x` is the whole model's. False: see FoldReport.
  bool fold_bucket(const BucketGuard& guard, std::uint32_t bucket, std::span<float> x);
  BucketValues values(const BucketGuard& guard, std::uint32_t bucket);
  std::span<float> y(const BucketGuard& guard, std::uint32_t bucket);
  /// As values(), for an operation that changes p.
  BucketValues changing(const BucketGuard& guard, std::uint32_t bucket);
  /// Locks the bucket for an operation that can be put off. It can fail only where the memory is
  /// shared.
  BucketGuard lock(std::uint32_t bucket);
  /// The same for fold(): one try.
  BucketGuard try_lock(std::uint32_t bucket);
  BucketGuard counted(BucketGuard guard);
  /// Makes `change`, of this bucket's p; see SetAside.
  template <typename Change>
  auto change_p(const BucketGuard& guard, std::uint32_t bucket, double aside, Change change) {
    const BucketValues ours = changing(guard, bucket);
    return aside_.around(bucket, ours.p, followed_ ? aside : 0, [&] { return change(ours); });
  }

  /// Makes `change`, of the scalars; it returns for how many of them it was refused.
  template <typename Change>
  MixReport change_telemetry(Change change) {
    const MutexLock lock(telemetry_lock_);
    return {.applied = true,
            .refused = change(telemetry::Scalars{telemetry_y_, telemetry_p_, telemetry_most_})};
  }
  /// The same for an exchange with a neighbour, which is counted.
  template <typename Change>
  MixReport exchange_telemetry(Change change) {
    const MixReport report = change_telemetry(change);
    ++telemetry_exchanges_;  // whoever reads it before a fold finds the change in there
    return report;
  }

  Layout layout_;
  Segment segment_;
  Followers* followers_ = nullptr;     ///< whoever has a bucket of x
  std::atomic<bool> followed_{false};  ///< anything follows
  SetAside aside_{layout_};
  const std::size_t scalars_;
  mutable Mutex telemetry_lock_;
  std::vector<double> telemetry_y_ FAST_GUARDED_BY(telemetry_lock_);
  std::vector<double> telemetry_p_ FAST_GUARDED_BY(telemetry_lock_);
  std::vector<double> telemetry_most_ FAST_GUARDED_BY(telemetry_lock_);
  std::atomic<std::uint64_t> inherited_{0}, deferred_{0}, telemetry_exchanges_{0};
  std::atomic<Rank> lock_holder_{kNoRank};
  Lent lent_;
  std::span<float> lent_x_;              ///< whoever has a bucket
  std::atomic<bool> lent_finite_{true};  ///< see FoldReport
  std::vector<std::uint32_t> to_fold_;   ///< what a fold goes over; training thread and its team
  std::vector<std::uint32_t> locked_;    ///< its second tries; the same
  std::vector<std::uint8_t> behind_;     ///< by bucket: locked at its last fold; the same
  OneAtATime training_, background_;     ///< which of the two threads is in which operation
  Team team_;
};

}  // namespace stencil
