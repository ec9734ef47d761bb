#include "stencil/runtime/step_boundary.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "stencil/mix/codecs/kinds.h"

namespace stencil {
namespace {

std::unique_ptr<const Codec> pulled_in(const ExchangeOptions& options) {
  if (Mode::parse(options.mode).kind != Mode::Kind::kSync) return nullptr;
  return make_codec(pulled_as(parse_codec(options.codec)));
}

}  // namespace

StepBoundary::StepBoundary(Mixer& mixer, const ExchangeOptions& options, double self_weight,
                           std::function<TimePoint()> clock)
    : mixer_(mixer),
      pulled_(pulled_in(options)),
      self_weight_(self_weight),
      clock_(std::move(clock)),
      pauses_(options.phase_lock, options.linger, mixer.bucket_count()),
      made_(mixer.layout()),
      by_layer_(options.by_layer),
      fold_ahead_(options.fold_ahead),
      taken_(mixer.layout().bucket_count()),
      asked_(taken_) {}

void StepBoundary::reach() {
  take_back();
  end_parts();
  phase_ = Phase::kEntry;
}

bool StepBoundary::over(const PumpStatus& status) const {
  switch (phase_) {
    case Phase::kBegin:
      return status.joined;
    case Phase::kEntry:
      if (!status.joined) return false;
      if (adopts(status)) return true;
      return sync() ? status.neighbours_completed && status.completed_round >= standing_.step
                    : status.limit.step >= next();
    case Phase::kPause:
      return pauses_.over(clock_());
    case Phase::kRound:
      return status.completed_round >= standing_.round;
    default:
      return true;
  }
}

bool StepBoundary::advance(std::span<float> x, std::span<double> scalars) {
  switch (phase_) {
    case Phase::kBegin:
      return begin(x, scalars);
    case Phase::kEntry:
      return sync() ? publish(x, scalars) : show(x, scalars);
    case Phase::kPause:
      pause(pauses_.advance(clock_()));
      return true;
    case Phase::kRound:
      collect(x, scalars);
      return true;
    case Phase::kLeave:
      return leave(x, scalars);
    default:
      return true;
  }
}

/// What neighbours that began earlier have moved this model by while it waited belongs to the model
/// on which the first step is computed.
bool StepBoundary::begin(std::span<float> x, std::span<double> scalars) {
  phase_ = Phase::kStep;
  if (sync()) return true;
  const FoldReport report = mixer_.fold(x);
  mixer_.fold_telemetry(scalars);
  return report.finite;
}

bool StepBoundary::asked_for_parts() {
  asked_.swap(taken_);
  std::ranges::fill(taken_, 0);
  return 4 * std::ranges::count(asked_, 1) >= 3 * std::ssize(asked_);
}

bool StepBoundary::show(std::span<float> x, std::span<double> scalars) {
  if (Followers* const followers = mixer_.followers()) {
    followers->likeness = pauses_.likeness(clock_());
  }
  const FoldReport report = mixer_.fold_news(x, standing_.made_from);
  mixer_.fold_telemetry(scalars);
  standing_.made_from = Standing::kNoBucket;
  ++standing_.step;
  paused_ = false;
  by_parts_ = asked_for_parts();
  pause(pauses_.begin(clock_(), standing_.step, by_parts_));
  return std::exchange(made_finite_, true) && report.finite;
}

void StepBoundary::pause(Pause pause) {
  standing_.pause = pause;
  paused_ |= pause != Pause::kNone;
  const bool waits = pause == Pause::kGathering || (pause == Pause::kSweeping && !by_parts_);
  phase_ = waits ? Phase::kPause : Phase::kLeave;
}

bool StepBoundary::leave(std::span<float> x, std::span<double> scalars) {
  phase_ = Phase::kStep;
  made_.boundary();
  if (!paused_ || by_parts_) return true;
  const FoldReport report = mixer_.fold_news(x);
  mixer_.fold_telemetry(scalars);
  return report.finite;
}

bool StepBoundary::publish(std::span<const float> x, std::span<const double> scalars) {
  const FoldReport report = mixer_.publish(x, scalars, *pulled_, self_weight_);
  if (report.finite) standing_.round = next();
  phase_ = report.finite ? Phase::kRound : Phase::kStep;
  return report.finite;
}

void StepBoundary::collect(std::span<float> x, std::span<double> scalars) {
  mixer_.collect(x, scalars);
  standing_.step = standing_.round;
  phase_ = Phase::kLeave;
}

void StepBoundary::take_over(const PumpStatus& status, std::span<float> x,
                             std::span<double> scalars) {
  take_back();
  if (Followers* const followers = mixer_.followers()) followers->clear();
  end_parts();
  std::ranges::fill(taken_, 0);
  mixer_.undo_step(x);
  (void)mixer_.fold(x);
  mixer_.fold_telemetry(scalars);
  made_.boundary();
  standing_.made_from = Standing::kNoBucket;
  made_finite_ = true;
  adopted_ = status.adopted;
  phase_ = Phase::kStep;
}

StepBoundary::Buckets StepBoundary::untaken(std::size_t first, std::size_t count) const {
  const bool used = phase_ != Phase::kStep || standing_.made_from != Standing::kNoBucket;
  const std::size_t size = mixer_.layout().size(), floats = mixer_.layout().bucket_floats();
  if (!by_layer_ || used || sync() || count == 0 || first >= size) return {};
  auto from = static_cast<std::uint32_t>(first / floats);
  auto to = static_cast<std::uint32_t>((first + std::min(count, size - first) - 1) / floats + 1);
  while (from < to && taken_[from] != 0) ++from;
  while (from < to && taken_[to - 1] != 0) --to;
  return {.from = from, .to = to};
}

BucketRange StepBoundary::would_be_taken(std::size_t first, std::size_t count) const {
  const Buckets buckets = untaken(first, count);
  if (buckets.from >= buckets.to) return {};
  return mixer_.layout().buckets(buckets.from, buckets.to);
}

bool StepBoundary::has_come(std::size_t first, std::size_t count) const {
  const Buckets buckets = untaken(first, count);
  return buckets.from >= buckets.to || pauses_.has_come(clock_(), buckets.from, buckets.to);
}

bool StepBoundary::take_in(std::span<float> x, std::size_t first, std::size_t count) {
  auto [from, to] = untaken(first, count);
  while (from < to) {
    std::uint32_t end = from;
    while (end < to && taken_[end] == 0) taken_[end++] = 1;
    made_finite_ &= mixer_.fold_news_of(x, from, end).finite;
    for (from = end; from < to && taken_[from] != 0;) ++from;
  }
  if (standing_.pause == Pause::kNone || !pauses_.over(clock_())) return false;
  standing_.pause = pauses_.advance(clock_());
  return true;
}

void StepBoundary::lend(std::span<float> x) {
  if (fold_ahead_ && by_parts_ && phase_ == Phase::kStep) mixer_.lend(x, asked_);
}

void StepBoundary::end_parts() {
  pauses_.end(clock_());
  standing_.pause = Pause::kNone;
}

bool StepBoundary::made_from(std::span<float> x, std::size_t first) {
  const auto made = made_.made_from(first);
  if (!made) return false;
  end_parts();
  made_finite_ &= mixer_.fold(x, made->from, made->to).finite;
  standing_.made_from = made->from;
  return true;
}

BucketRange StepBoundary::would_be_made(std::size_t first) const {
  const auto made = made_.would_be_made(first);
  if (!made) return {};
  return mixer_.layout().buckets(made->from, made->to);
}

}  // namespace stencil
