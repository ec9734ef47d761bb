#pragma once

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "stencil/core/error.h"
#include "stencil/core/layout.h"
#include "stencil/core/types.h"

namespace stencil {

/// The lock of one bucket and the state that it protects; stored in the segment.
struct alignas(64) BucketControl {
  pthread_mutex_t mutex;  ///< process-shared, robust
  /// 0: the owner has no request open on this bucket. 1 + k: it has one, and may answer k times
  /// more.
  std::atomic<std::uint32_t> answers_left;
  /// The neighbour that holds the lock. kNoRank: the owner holds it, nobody does, or it is not
  /// known yet.
  std::atomic<Rank> holder;
  /// 0: p is as the owner's last fold left it. Whoever changes p sets 1 before, under the lock, so
  /// that one that dies in between leaves it set; a fold sets 0, under the lock too. Without the
  /// lock it may be read by an owner to whom a change that is under way may come later.
  std::atomic<std::uint32_t> came;
};

/// What neighbours' exchanges did to one bucket since the owner last read it.
struct SharedNote {
  std::atomic<float> moved;  ///< sum of the distances by which they moved the owner
  std::atomic<float> norm2;  ///< |z|^2 of the latest neighbour, which is near the owner's
};

/// Holds the lock of a bucket, or not. One thread.
class BucketGuard {
 public:
  BucketGuard() = default;
  ~BucketGuard();
  BucketGuard(BucketGuard&& other) noexcept
      : control_(std::exchange(other.control_, nullptr)),
        inherited_(other.inherited_),
        holder_(other.holder_) {}
  BucketGuard& operator=(BucketGuard&&) = delete;

  /// Tries once, or a bounded number of times for about as long as an exchange on one bucket takes.
  static BucketGuard try_once(BucketControl& control);
  /// `holder` is the rank of the caller where it is not the owner, for messages.
  static BucketGuard try_for_a_while(BucketControl& control, Rank holder = kNoRank);
  /// Waits. Only for memory that no other process maps.
  static BucketGuard wait(BucketControl& control);

  explicit operator bool() const { return control_ != nullptr; }
  [[nodiscard]] bool guards(const BucketControl& control) const { return control_ == &control; }
  /// Whether the last holder died while it held the lock. At most a few floats of its exchange are
  /// then applied at one end only.
  [[nodiscard]] bool inherited() const { return inherited_; }

 private:
  BucketGuard(BucketControl& control, int result, Rank holder = kNoRank);
  BucketControl* control_ = nullptr;
  bool inherited_ = false;
  Rank holder_ = kNoRank;
};

/// The memory of a worker's exchange: y and p, each as large as the model, with a lock per bucket.
/// It is either private, or a memfd that neighbours on the same host map too, once its descriptor
/// was passed to them. The memfd has no name, so nothing is left behind. All its pages are
/// allocated at the start, and it is sealed against shrinking and growing, so that no access is a
/// SIGBUS.
///
/// A process that maps it is trusted. It can write any y and p, give pages back to the system, hold
/// locks for ever, and corrupt the list of held locks that the C library keeps in them, and so this
/// process. No seal prevents that, since averaging needs write access. Only processes of the same
/// user that know the secret from a Hello get the descriptor (UnixMeeting), and those could stop or
/// trace this process anyway. The numbers are checked all the same, as on the wire. Where a
/// neighbour is not trusted that far, set share_memory to never.
class Segment {
 public:
  enum class Reach : std::uint8_t { kOwn, kShared };

  /// Throws ConfigError where the system cannot allocate the memory.
  Segment(const Layout& layout, Rank rank, Reach reach);
  /// Maps a neighbour's segment. The caller still owns the descriptor. Returns an Error where the
  /// segment does not match `layout`, `rank` and `id`.
  static Result<Segment> map(int descriptor, const Layout& layout, Rank rank, std::uint64_t id);
  ~Segment();
  Segment(Segment&& other) noexcept;
  Segment& operator=(Segment&&) = delete;

  [[nodiscard]] std::span<float> y() { return {y_, floats_}; }
  [[nodiscard]] std::span<float> p() { return {p_, floats_}; }
  [[nodiscard]] std::span<const float> y() const { return {y_, floats_}; }
  [[nodiscard]] std::span<const float> p() const { return {p_, floats_}; }
  [[nodiscard]] BucketControl& control(std::uint32_t bucket) const { return controls_[bucket]; }
  [[nodiscard]] SharedNote& note(std::uint32_t bucket) const { return notes_[bucket]; }

  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// The rank of the owner.
  [[nodiscard]] Rank rank() const;
  /// An identifier that no other segment has.
  [[nodiscard]] std::uint64_t id() const;
  /// Whether neighbours may exchange with it: its owner trains or settles. Read it under a bucket's
  /// lock. Then, after a fold that follows `admit(false)`, no neighbour changes the bucket any
  /// more.
  [[nodiscard]] bool admits() const;
  void admit(bool yes);
  /// Counts the notes that neighbours have left.
  [[nodiscard]] std::atomic<std::uint64_t>& noted() const;

  /// The descriptor to pass to neighbours; -1 where the memory is private.
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  struct Header;
  Segment(std::size_t floats, std::uint32_t buckets);
  [[nodiscard]] bool map_memory(int descriptor);
  [[nodiscard]] bool reserve() const;

  std::size_t floats_, bytes_ = 0;
  std::uint32_t buckets_;
  int descriptor_ = -1;
  std::byte* base_ = nullptr;
  Header* header_ = nullptr;
  BucketControl* controls_ = nullptr;
  SharedNote* notes_ = nullptr;
  float* y_ = nullptr;
  float* p_ = nullptr;
};

}  // namespace stencil
