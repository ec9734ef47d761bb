#include <cmath>
#include <utility>

#include "fast/errors.h"
#include "fast/session/session_impl.h"

namespace fast {

using stencil::Pause;

void Session::Impl::exchange(const StepReport& report) {
  record_.agreed = false;  // whatever an earlier life came to, this one trains on
  join();
  background_.rethrow_failure();
  const TimePoint begun = EventLoop::now();
  std::span<float> x = values_.pull();
  for (Resumable* const part : adapter_.parts()) part->stepped(report.samples);
  if (!sync() && background_.adopts(adopted_) && await_model()) return;
  progress_.add(report.samples, report.loss);
  if (sync()) progress_.heard();
  if (report.loss) note_loss(*report.loss);
  // In lock step this may be the last round, for all alike.
  if (sync() && progress_.share() >= kWholeRun) {
    (void)end_training();
    x = values_.pull();
  }
  const bool finite = sync() ? exchange_in_lock_step(x) : exchange_edge_delta(x);
  values_.push();
  mean_data_size_ = progress_.data_size();
  exchange_time_ += EventLoop::now() - begun;
  if (!finite) {
    throw NonFiniteError("parameters became NaN or infinite at step " + std::to_string(steps()) +
                         "; lower the learning rate");
  }
  if (resuming_.due(begun)) save(options_.checkpoint);
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
  return means_.read(number, progress_.others());
}

void Session::Impl::note_first_batch(std::uint64_t hash) {
  steps_.standing().first_batch = hash;
  publish();
}

void Session::Impl::ready_from(std::size_t first) {
  if (!joined_ || agreement_ || background_.failed() || !options_.exchange.overlap ||
      mode().kind != stencil::Mode::Kind::kAsync || background_.adopts(adopted_)) {
    return;
  }
  const TimePoint begun = EventLoop::now();
  if (const auto part = steps_.would_be_made(first); part.size > 0) {
    if (steps_.made_from(values_.pull(part.begin, part.size), first)) publish();
  }
  exchange_time_ += EventLoop::now() - begun;
}

bool Session::Impl::exchange_edge_delta(std::span<float> x) {
  const std::uint64_t next = steps_.next();
  if (mode().kind == stencil::Mode::Kind::kBounded) {
    await_neighbours([this] { return "to come within " + mode().name() + " steps"; },
                     [next](const PumpStatus& s) { return s.limit.step >= next; });
  }
  adapter_.followers().likeness = boundary_.likeness();
  const std::uint64_t told = mixer_.told();
  const bool finite = steps_.end_step(x, progress_.scalars());
  const bool heard = std::exchange(told_, told) != told;
  if (heard) progress_.heard();
  means_.folded(heard, progress_.others());
  Pause pause = boundary_.begin(next);
  steps_.pause(pause);
  publish();
  while (pause != Pause::kNone) {
    pause = boundary_.wait();
    steps_.pause(pause);
    publish();
  }
  const bool finite_too = steps_.resume(x, progress_.scalars());
  means_.folded(/*heard=*/false, progress_.others());
  return finite_too && finite;
}

bool Session::Impl::exchange_in_lock_step(std::span<float> x) {
  const std::uint64_t next = steps_.next();
  const bool ready =
      await_neighbours([next] { return "to complete round " + std::to_string(next - 1); },
                       [next](const PumpStatus& s) {
                         return s.completed_round + 1 >= next && s.neighbours_completed;
                       });
  if (!ready) return true;  // the user stops: neighbours may still pull the round before

  const stencil::FoldReport report = mixer_.publish(x, progress_.scalars(), *pulled_, self_weight_);
  if (!report.finite) return false;
  steps_.standing().round = next;
  publish();
  const bool complete =
      await_neighbours([next] { return "in round " + std::to_string(next); },
                       [next](const PumpStatus& s) { return s.completed_round >= next; });
  if (!complete) return true;  // the user stops: the model stays as its own step left it
  mixer_.collect(x, progress_.scalars());
  means_.averaged(progress_.others());
  steps_.standing().step = next;
  publish();
  return true;
}

}  // namespace fast
