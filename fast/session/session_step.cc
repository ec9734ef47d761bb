#include <cmath>
#include <utility>

#include "fast/errors.h"
#include "fast/session/session_impl.h"

namespace fast {

using Phase = stencil::StepBoundary::Phase;

void Session::Impl::exchange(const StepReport& report) {
  record_.agreed = false;  // whatever an earlier life came to, this one trains on
  join();
  background_.rethrow_failure();
  const TimePoint begun = EventLoop::now();
  changing();
  std::span<float> x = values_.pull();
  for (Resumable* const part : adapter_.parts()) part->stepped(report.samples);
  if (!sync() && background_.adopts(boundary_.adopted()) && await_model()) return;
  progress_.add(report.samples, report.loss);
  if (sync()) progress_.heard();
  if (report.loss) note_loss(*report.loss);
  // In lock step this may be the last round, for all alike.
  if (sync() && progress_.fraction() >= kWholeRun) {
    (void)end_training();
    x = values_.pull();
  }
  const bool finite = pass_boundary(x);
  values_.push();
  mean_data_size_ = progress_.data_size();
  show_means();
  exchange_time_ += EventLoop::now() - begun;
  if (!finite) {
    throw NonFiniteError("parameters became NaN or infinite at step " + std::to_string(steps()) +
                         "; lower the learning rate");
  }
  if (resuming_.due(begun)) save(options_.checkpoint);
  if (adapter_.in_place()) boundary_.lend(values_.get());
}

void Session::Impl::note_loss(double loss) {
  if (!std::isfinite(loss)) ++non_finite_losses_;
  losses_.add(loss);
  if (loss_grown_) return;
  const std::string text = losses_.grown();
  loss_grown_ = !text.empty();
  if (loss_grown_) options_.log(LogLevel::kWarning, text);
}

double Session::Impl::mean(std::string_view name, std::optional<double> value) {
  const std::size_t number = means_.find(name);
  if (value) means_.say(number, *value, progress_.steps(), progress_.others());
  return shown_means_[number] = means_.read(number, progress_.others());
}

void Session::Impl::show_means() {
  for (std::size_t i = 0; i < shown_means_.size(); ++i) {
    shown_means_[i] = means_.read(i, progress_.others());
  }
}

void Session::Impl::note_first_batch(std::uint64_t hash) {
  boundary_.standing().first_batch = hash;
  publish();
}

void Session::Impl::ready_from(std::size_t first) {
  if (!joined_ || agreement_ || background_.failed() || !options_.exchange.overlap ||
      mode().kind != stencil::Mode::Kind::kAsync || background_.adopts(boundary_.adopted())) {
    return;
  }
  const TimePoint begun = EventLoop::now();
  if (const auto part = boundary_.would_be_made(first); part.size > 0) {
    if (boundary_.made_from(values_.pull(part.begin, part.size), first)) publish();
  }
  exchange_time_ += EventLoop::now() - begun;
}

void Session::Impl::needed(std::size_t first, std::size_t count) {
  if (!joined_ || agreement_ || background_.failed()) return;
  if (background_.adopts(boundary_.adopted())) return changing();  // this step is dropped
  const auto part = boundary_.would_be_taken(first, count);
  if (part.size == 0) return;
  const TimePoint begun = EventLoop::now();
  const auto has_come = [&] { return boundary_.has_come(first, count); };
  if (!has_come()) pause_.wait(has_come);
  const std::span<float> x = values_.look(part.begin, part.size);
  if (boundary_.take_in(x, first, count)) publish();
  values_.push(part.begin, part.size);
  exchange_time_ += EventLoop::now() - begun;
}

bool Session::Impl::pass_boundary(std::span<float> x) {
  bool finite = true;
  boundary_.reach();
  while (await_phase()) {
    const Phase phase = boundary_.phase();
    const std::uint64_t telemetry = mixer_.telemetry_exchanges();
    finite = boundary_.advance(x, progress_.scalars()) && finite;
    note_scalars(phase, telemetry);
    if (boundary_.passed()) break;
    publish();
  }
  return finite;
}

bool Session::Impl::await_phase() {
  const auto number = [this](std::uint64_t back) {
    return std::to_string(boundary_.next() - back);
  };
  const auto over = [this](const PumpStatus& s) { return boundary_.over(s); };
  switch (boundary_.phase()) {
    case Phase::kEntry:
      if (sync()) return await_neighbours([&] { return "to complete round " + number(1); }, over);
      if (mode().kind == stencil::Mode::Kind::kBounded) {
        // Also where the user stops, the step is shown. A model that is being adopted now is taken
        // over at the next boundary.
        await_neighbours([this] { return "to come within " + mode().name() + " steps"; },
                         [this](const PumpStatus& s) { return !s.joined || boundary_.over(s); });
      }
      return true;
    case Phase::kRound:
      return await_neighbours([&] { return "in round " + number(0); }, over);
    case Phase::kPause:
      pause_.wait();
      return true;
    default:
      return true;
  }
}

void Session::Impl::note_scalars(Phase phase, std::uint64_t telemetry) {
  if (phase == Phase::kRound) return means_.averaged(progress_.others());
  if (sync() || phase == Phase::kPause) return;
  const bool heard =
      phase == Phase::kEntry && std::exchange(telemetry_seen_, telemetry) != telemetry;
  if (heard) progress_.heard();
  means_.folded(heard, progress_.others());
}

}  // namespace fast
