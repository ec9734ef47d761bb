#include "stencil/runtime/step_boundary.h"

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
      pauses_(options.phase_lock, options.linger),
      made_(mixer.layout()) {}

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

bool StepBoundary::show(std::span<float> x, std::span<double> scalars) {
  if (Followers* const followers = mixer_.followers()) {
    followers->likeness = pauses_.likeness(clock_());
  }
  const FoldReport report = mixer_.fold_news(x, standing_.made_from);
  mixer_.fold_telemetry(scalars);
  standing_.made_from = Standing::kNoBucket;
  ++standing_.step;
  paused_ = false;
  pause(pauses_.begin(clock_(), standing_.step));
  return std::exchange(made_finite_, true) && report.finite;
}

void StepBoundary::pause(Pause pause) {
  standing_.pause = pause;
  paused_ |= pause != Pause::kNone;
  phase_ = pause == Pause::kNone ? Phase::kLeave : Phase::kPause;
}

bool StepBoundary::leave(std::span<float> x, std::span<double> scalars) {
  phase_ = Phase::kStep;
  made_.boundary();
  if (!paused_) return true;
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
  if (Followers* const followers = mixer_.followers()) followers->clear();
  mixer_.undo_step(x);
  (void)mixer_.fold(x);
  mixer_.fold_telemetry(scalars);
  made_.boundary();
  standing_.made_from = Standing::kNoBucket;
  made_finite_ = true;
  adopted_ = status.adopted;
  phase_ = Phase::kStep;
}

bool StepBoundary::made_from(std::span<float> x, std::size_t first) {
  const auto made = made_.made_from(first);
  if (!made) return false;
  made_finite_ &= mixer_.fold(x, made->from, made->to).finite;
  standing_.made_from = made->from;
  return true;
}

BucketRange StepBoundary::would_be_made(std::size_t first) const {
  const auto made = made_.would_be_made(first);
  if (!made) return {};
  const BucketRange last = mixer_.layout().bucket(made->to - 1);
  const std::size_t begin = mixer_.layout().bucket(made->from).begin;
  return {begin, last.begin + last.size - begin};
}

}  // namespace stencil
