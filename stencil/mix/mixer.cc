#include "stencil/mix/mixer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "stencil/codec/fp32_codec.h"
#include "stencil/core/error.h"
#include "stencil/mix/codecs/dense.h"
#include "stencil/mix/following.h"
#include "stencil/mix/kernels.h"

namespace stencil {
namespace {

/// The model size, in floats, from which on a team saves more time than waking it costs.
constexpr std::size_t kWorthATeam = 1 << 20;

/// Answers that a bucket may still give while a request of its owner's is open.
constexpr std::uint32_t kAnswersWhileOpen = 3;

/// Counts an answer given while a request of the owner's is open, by message or in shared memory.
/// Returns false when no more are allowed. The caller holds the bucket's lock.
bool count_answer(BucketControl& control) {
  std::uint32_t left = control.answers_left;
  while (left > 1 && !control.answers_left.compare_exchange_weak(left, left - 1)) {
    // The owner may close its request without the lock.
  }
  return left != 1;
}

}  // namespace

Mixer::Mixer(const Layout& layout, std::span<const float> initial,
             std::span<const double> telemetry)
    : Mixer(layout, initial, telemetry, Segment(layout, kNoRank, Segment::Reach::kOwn)) {}

Mixer::Mixer(const Layout& layout, std::span<const float> initial,
             std::span<const double> telemetry, Segment segment, int threads)
    : layout_(layout),
      segment_(std::move(segment)),
      scalars_(telemetry.size()),
      telemetry_y_(telemetry.begin(), telemetry.end()),
      telemetry_p_(telemetry.size(), 0.0),
      telemetry_most_(telemetry.size(), std::numeric_limits<double>::infinity()),
      lent_(layout.bucket_count()),
      to_fold_(layout.bucket_count()),
      locked_(layout.bucket_count()),
      behind_(layout.bucket_count()),
      team_(layout.size() >= kWorthATeam ? threads : 1) {
  if (initial.size() != layout.size() || segment_.y().size() != layout.size()) {
    throw InvariantError("Mixer: initial values do not have the layout's size");
  }
  std::ranges::copy(initial, segment_.y().begin());
  std::ranges::fill(segment_.p(), 0.0F);
}

BucketValues Mixer::values(const BucketGuard& guard, std::uint32_t bucket) {
  check(guard, bucket);
  const BucketRange range = layout_.bucket(bucket);
  return {bucket, segment_.y().subspan(range.begin, range.size),
          segment_.p().subspan(range.begin, range.size)};
}

BucketValues Mixer::changing(const BucketGuard& guard, std::uint32_t bucket) {
  segment_.control(bucket).came = 1;
  return values(guard, bucket);
}

std::span<float> Mixer::y(const BucketGuard& guard, std::uint32_t bucket) {
  check(guard, bucket);
  const BucketRange range = layout_.bucket(bucket);
  return segment_.y().subspan(range.begin, range.size);
}

void Mixer::check(const BucketGuard& guard, std::uint32_t bucket) const {
  if constexpr (kThreadsChecked) {
    if (!guard.guards(segment_.control(bucket))) {
      throw InvariantError("Mixer: a bucket is used without its lock");
    }
  }
}

BucketGuard Mixer::counted(BucketGuard guard) {
  if (guard.inherited()) ++inherited_;
  return guard;
}

BucketGuard Mixer::lock(std::uint32_t bucket) {
  BucketControl& control = segment_.control(bucket);
  const bool shared = segment_.descriptor() >= 0;
  return counted(shared ? BucketGuard::try_for_a_while(control) : BucketGuard::wait(control));
}

BucketGuard Mixer::try_lock(std::uint32_t bucket) {
  return counted(BucketGuard::try_once(segment_.control(bucket)));
}

void Mixer::follow(Followers& followers) {
  const OneAtATime::Inside inside(training_, "Mixer::follow()");
  followers.cut_by(layout_.bucket_floats());
  followers_ = &followers;
}

void Mixer::bound_scalars(std::vector<double> most) {
  if (most.size() != scalars_) throw InvariantError("Mixer: a bound for each scalar, or none");
  const MutexLock lock(telemetry_lock_);
  telemetry_most_ = std::move(most);
}

std::size_t Mixer::floats(std::uint32_t bucket) const {
  return bucket == telemetry_bucket() ? 0 : layout_.bucket(bucket).size;
}

bool Mixer::fold_bucket(const BucketGuard& guard, std::uint32_t bucket, std::span<float> x) {
  check(guard, bucket);
  bool finite = true;
  std::atomic<std::uint32_t>& came = segment_.control(bucket).came;
  const bool nothing = came == 0;
  const auto fold = [&](TypedRange part) {
    if (nothing && !rounds(part.type)) {
      finite &= kernels::show(&x[part.begin], &segment_.y()[part.begin], part.size);
      return;
    }
    const auto change = [&](std::size_t begin, std::size_t n) {
      finite &= kernels::fold(&x[begin], &segment_.y()[begin], &segment_.p()[begin], n, part.type);
    };
    change_followed(followers_, x, part.begin, part.size, change, aside_.of(bucket));
  };
  layout_.visit_parts(bucket, fold);
  aside_.clear(bucket);
  came = 0;
  return finite;
}

FoldReport Mixer::fold(std::span<float> x) {
  return fold(x, 0, telemetry_bucket());
}

FoldReport Mixer::fold(std::span<float> x, std::uint32_t from, std::uint32_t to) {
  const OneAtATime::Inside inside(training_, "Mixer::fold()");
  take_back(from, to);
  to_fold_.resize(to - from);
  std::iota(to_fold_.begin(), to_fold_.end(), from);
  return fold_due(x);
}

FoldReport Mixer::fold_news(std::span<float> x, std::uint32_t unchanged) {
  const OneAtATime::Inside inside(training_, "Mixer::fold_news()");
  take_back(0, telemetry_bucket());
  to_fold_.clear();
  for (std::uint32_t b = 0; b < telemetry_bucket(); ++b) {
    if (b < unchanged || has_news(b)) to_fold_.push_back(b);
  }
  return fold_due(x);
}

FoldReport Mixer::fold_news_of(std::span<float> x, std::uint32_t from, std::uint32_t to) {
  const OneAtATime::Inside inside(training_, "Mixer::fold_news_of()");
  take_back(from, to);
  to_fold_.clear();
  for (std::uint32_t b = from; b < to; ++b) {
    if (has_news(b)) to_fold_.push_back(b);
  }
  return fold_due(x);
}

bool Mixer::has_news(std::uint32_t bucket) {
  return behind_[bucket] != 0 || segment_.control(bucket).came != 0;
}

FoldReport Mixer::fold_due(std::span<float> x) {
  followed_ = followers_ != nullptr && !followers_->empty();
  std::atomic<bool> finite = true;
  std::atomic<std::size_t> found_locked = 0;
  const auto try_fold = [&](std::uint32_t bucket) {
    const BucketGuard guard = try_lock(bucket);
    if (!guard) return false;
    if (!fold_bucket(guard, bucket, x)) finite = false;
    behind_[bucket] = 0;
    return true;
  };
  auto first_try = [&](std::uint32_t i) {
    if (!try_fold(to_fold_[i])) locked_[found_locked++] = to_fold_[i];
  };
  const auto due = static_cast<std::uint32_t>(to_fold_.size());
  if (due > 0) team_.each(due, first_try);

  FoldReport result;
  for (std::size_t i = 0; i < found_locked; ++i) {
    if (try_fold(locked_[i])) continue;
    behind_[locked_[i]] = 1;
    ++result.deferred;
    ++deferred_;
    lock_holder_ = segment_.control(locked_[i]).holder.load();
  }
  if (std::ranges::find(behind_, 1) == behind_.end()) lock_holder_ = kNoRank;
  result.folded = due - result.deferred;
  result.finite = lent_finite_.exchange(true) && finite;
  return result;
}

MixReport Mixer::offer(std::uint32_t bucket, EdgeCodec& codec, std::span<std::byte> out) {
  const OneAtATime::Inside inside(background_, "Mixer::offer()");
  if (bucket == telemetry_bucket()) return copy(bucket, out);
  const BucketGuard guard = lock(bucket);
  if (!guard) return MixReport::locked();
  const MixReport result = MixReport::of(codec.offer(values(guard, bucket), out));
  if (result.applied) segment_.control(bucket).answers_left = 1 + kAnswersWhileOpen;
  return result;
}

MixReport Mixer::answer(std::uint32_t bucket, EdgeCodec& codec, std::span<const std::byte> offer,
                        int divisor, std::span<std::byte> reply, double aside) {
  const OneAtATime::Inside inside(background_, "Mixer::answer()");
  if (bucket == telemetry_bucket()) {
    return exchange_telemetry(
        [&](auto ours) { return telemetry::answer(ours, offer, divisor, reply); });
  }
  const BucketGuard guard = lock(bucket);
  if (!guard) return MixReport::locked();
  if (!count_answer(segment_.control(bucket))) return {.why = MixReport::Why::kBusy};
  return MixReport::of(change_p(
      guard, bucket, aside, [&](auto ours) { return codec.answer(ours, offer, divisor, reply); }));
}

MixReport Mixer::complete(std::uint32_t bucket, EdgeCodec& codec, std::span<const std::byte> offer,
                          std::span<const std::byte> reply, int divisor, double aside) {
  const OneAtATime::Inside inside(background_, "Mixer::complete()");
  if (bucket == telemetry_bucket()) {
    return exchange_telemetry([&](auto ours) { return telemetry::complete(ours, reply); });
  }
  const BucketGuard guard = lock(bucket);
  if (!guard) return MixReport::locked();
  return MixReport::of(change_p(guard, bucket, aside, [&](auto ours) {
    return codec.complete(ours, offer, reply, divisor);
  }));
}

MixReport Mixer::merge(std::uint32_t bucket, EdgeCodec& codec, CodedOffer ours, CodedOffer theirs,
                       double aside) {
  const OneAtATime::Inside inside(background_, "Mixer::merge()");
  if (bucket == telemetry_bucket()) {
    return exchange_telemetry(
        [&](auto scalars) { return telemetry::merge(scalars, ours.bytes, theirs.bytes); });
  }
  const BucketGuard guard = lock(bucket);
  if (!guard) return MixReport::locked();
  return MixReport::of(change_p(guard, bucket, aside,
                                [&](auto values) { return codec.merge(values, ours, theirs); }));
}

MixReport Mixer::copy(std::uint32_t bucket, std::span<std::byte> out) {
  const OneAtATime::Inside inside(background_, "Mixer::copy()");
  if (bucket == telemetry_bucket()) {
    const MutexLock lock(telemetry_lock_);
    telemetry::offer(telemetry_y_, telemetry_p_, out);
    return {.applied = true};
  }
  const BucketGuard guard = lock(bucket);
  if (!guard) return MixReport::locked();
  const BucketValues ours = values(guard, bucket);
  const bool nothing = std::ranges::all_of(ours.p, [](float value) { return value == 0; });
  if (nothing) return {.applied = Fp32Codec().encode(ours.y, out)};  // a sum would turn -0 into 0
  return MixReport::of(DenseEdgeCodec().offer(ours, out));
}

MixReport Mixer::adopt(std::uint32_t bucket, std::span<const std::byte> s) {
  const OneAtATime::Inside inside(background_, "Mixer::adopt()");
  if (bucket == telemetry_bucket()) {
    return change_telemetry([&](auto ours) { return telemetry::adopt(ours, s); });
  }
  const BucketGuard guard = lock(bucket);
  if (!guard) return MixReport::locked();
  const BucketValues ours = changing(guard, bucket);
  aside_.clear(bucket);
  return MixReport::of(edge_delta::adopt(ours.y, ours.p, Fp32Codec(), s));
}

MixReport Mixer::begin_with(std::uint32_t bucket, std::span<const std::byte> s) {
  const OneAtATime::Inside inside(background_, "Mixer::begin_with()");
  const BucketGuard guard = lock(bucket);
  if (!guard) return MixReport::locked();
  const BucketValues ours = values(guard, bucket);
  const MixReport result =
      MixReport::of(edge_delta::begin_with(y(guard, bucket), ours.p, Fp32Codec(), s));
  if (result.applied) segment_.control(bucket).came = 0;  // p is 0, and x will be y
  return result;
}

std::vector<float> Mixer::copy_y() {
  const OneAtATime::Inside inside(background_, "Mixer::copy_y()");
  std::vector<float> copy(layout_.size());
  for (std::uint32_t b = 0; b < telemetry_bucket(); ++b) {
    const BucketGuard guard = lock(b);
    if (!guard) continue;
    const auto at = static_cast<std::ptrdiff_t>(layout_.bucket(b).begin);
    std::ranges::copy(values(guard, b).y, copy.begin() + at);
  }
  return copy;
}

void Mixer::adopted(std::uint32_t bucket, EdgeCodec& codec) {
  const OneAtATime::Inside inside(background_, "Mixer::adopted()");
  if (bucket == telemetry_bucket()) return;
  if (const BucketGuard guard = lock(bucket)) codec.adopted(values(guard, bucket));
}

MixReport Mixer::discard(std::uint32_t bucket) {
  const OneAtATime::Inside inside(background_, "Mixer::discard()");
  if (bucket == telemetry_bucket()) {
    const MutexLock lock(telemetry_lock_);
    std::ranges::fill(telemetry_p_, 0);
    return {.applied = true};
  }
  const BucketGuard guard = lock(bucket);
  if (!guard) return MixReport::locked();
  aside_.clear(bucket);
  std::ranges::fill(changing(guard, bucket).p, 0);
  return {.applied = true};
}

MixReport Mixer::average_shared(std::uint32_t bucket, Segment& theirs, bool theirs_first,
                                double aside) {
  const OneAtATime::Inside inside(background_, "Mixer::average_shared()");
  BucketControl& control = theirs.control(bucket);
  const Rank self = segment_.rank();
  BucketGuard first =
      theirs_first ? counted(BucketGuard::try_for_a_while(control, self)) : lock(bucket);
  if (!first) return MixReport::locked();
  BucketGuard second =
      theirs_first ? lock(bucket) : counted(BucketGuard::try_for_a_while(control, self));
  if (!second) return MixReport::locked();

  const bool open = control.answers_left != 0;
  if (!theirs.admits() || !count_answer(control)) return {.why = MixReport::Why::kBusy};
  control.came = 1;
  const BucketRange range = layout_.bucket(bucket);
  const int divisor = open ? 3 : 2;
  MixReport result =
      MixReport::of(change_p(theirs_first ? second : first, bucket, aside, [&](auto ours) {
        return edge_delta::average_pair(ours.y, ours.p, theirs.y().subspan(range.begin, range.size),
                                        theirs.p().subspan(range.begin, range.size), divisor);
      }));
  result.divisor = divisor;
  if (!result.applied) return result;
  SharedNote& note = theirs.note(bucket);
  note.moved.fetch_add(static_cast<float>(std::sqrt(result.distance2)) /
                       static_cast<float>(divisor));
  note.norm2 = static_cast<float>(result.norm2);
  ++theirs.noted();
  return result;
}

void Mixer::close_request(std::uint32_t bucket) {
  // No lock is needed: the request is complete, and a neighbour that still reads it as open only
  // takes less.
  if (bucket < telemetry_bucket()) segment_.control(bucket).answers_left = 0;
}

void Mixer::fold_telemetry(std::span<double> x) {
  const OneAtATime::Inside inside(training_, "Mixer::fold_telemetry()");
  const MutexLock lock(telemetry_lock_);
  telemetry::fold(x, telemetry_y_, telemetry_p_);
}

void Mixer::read_z(std::span<float> z) const {
  for (std::uint32_t b = 0; b < telemetry_bucket(); ++b) {
    const BucketGuard guard = BucketGuard::wait(segment_.control(b));
    const BucketRange range = layout_.bucket(b);
    for (std::size_t i = range.begin; i < range.begin + range.size; ++i) {
      z[i] = segment_.y()[i] + segment_.p()[i];
    }
  }
}

double Mixer::steps_known() const {
  const MutexLock lock(telemetry_lock_);
  return telemetry_y_.empty() ? 0 : telemetry_y_.front() + telemetry_p_.front();
}

void Mixer::read_telemetry_z(std::span<double> z) const {
  const MutexLock lock(telemetry_lock_);
  for (std::size_t i = 0; i < z.size(); ++i) z[i] = telemetry_y_[i] + telemetry_p_[i];
}

}  // namespace stencil
