#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "fast/errors.h"
#include "fast/session/session_impl.h"

namespace fast {
namespace {

/// In seconds: others are taken to be computing a step for twice this at least.
constexpr double kStill = 2;

}  // namespace

double Session::Impl::fraction() const {
  const bool whole = over() && (aims() || Progress::stopped(record_.scalars));
  return whole ? std::max(1.0, progress_.fraction()) : progress_.fraction();
}

bool Session::Impl::done() {
  if (!aims() && !std::exchange(endless_, true)) {
    options_.log(LogLevel::kWarning,
                 "done() is asked for, and without " + options_.naming("budget") + " or " +
                     options_.naming("epochs") + " only stop_all() makes it true");
  }
  if (fraction() >= kWholeRun || Progress::stopped(progress_.scalars())) done_ = true;
  if (done_ || sync()) return done_;
  std::array<double, Progress::kScalars> heard{};
  mixer_.read_telemetry_z(heard);
  return done_ = progress_.fraction_of(heard) >= kWholeRun || Progress::stopped(heard);
}

void Session::Impl::stop_all(std::string_view reason) {
  progress_.stop();
  options_.log(LogLevel::kInfo, "ends the run for all workers: " + std::string(reason));
}

bool Session::Impl::end_training() {
  if (std::exchange(training_ended_, true)) return false;
  bool changed = false;
  for (Resumable* const part : adapter_.parts()) changed |= part->finishing();
  return changed;
}

Agreement Session::Impl::finish() {
  if (agreement_) return *agreement_;
  changing();
  const bool before = over();
  const bool whole = !aims() || done();
  agreement_ = before ? Agreement::kAgreed : agree();
  const bool paused = agreement_ == Agreement::kPaused;
  if (!before && !paused && joined_ && size() > 1 && boundary_.standing().step == 0) {
    options_.log(LogLevel::kWarning,
                 "has made no step: exchange() was not called, so that its model was averaged at "
                 "the end alone");
  }
  if (const std::string text = losses_.grown(); !text.empty()) {
    options_.log(LogLevel::kWarning, text);
  }
  const bool agreed = *agreement_ == Agreement::kAgreed;
  if (!paused) {
    for (Resumable* const part : adapter_.parts()) part->finished(agreed);
  }
  // Whoever is killed from now on, in its evaluation for example, need not agree again, with
  // neighbours that have gone.
  record_.agreed = agreed && whole;
  if (agreed && !before && saves()) save(options_.checkpoint);
  resuming_.end();
  return *agreement_;
}

Agreement Session::Impl::agree() {
  if (pauses()) return pause();
  if (!joined_) return Agreement::kAlone;
  if (!sync() && background_.adopts(boundary_.adopted())) (void)await_model();
  const bool changed = end_training();
  if (saves()) save(options_.checkpoint);
  if (sync()) return agree_in_lock_step(changed);
  fold_all();  // buckets that were held at the last boundary still lack the last step
  mixer_.fold_telemetry(progress_.scalars());  // and stop_all() may have come since then
  if (!settle_figure_.wait(stencil::seconds(options_.exchange.settle_deadline))) {
    options_.log(
        LogLevel::kWarning,
        "settles as the grid asked for before it changed: what it asks for now took longer "
        "to compute than " +
            options_.naming("settle_deadline"));
  }
  boundary_.standing().awaits_until =
      EventLoop::now() + stencil::seconds(options_.exchange.wait_at_end);
  want(WorkerState::kSettling);
  const bool settled = settle();
  if (!settled && pauses()) return pause();
  freeze();
  if (!settled) return Agreement::kDeadline;
  return size() == 1 || background_.status().agreed ? Agreement::kAgreed : Agreement::kAlone;
}

void Session::Impl::freeze() {
  want(WorkerState::kFrozen);
  background_.flush([](const PumpStatus& s) { return s.state == WorkerState::kFrozen; });
  // Replies that neighbours still owe to our own requests belong to this model.
  background_.flush([](const PumpStatus& s) { return s.flushed; });
  fold_all();
}

Agreement Session::Impl::pause() {
  if (joined_) freeze();
  mixer_.fold_telemetry(progress_.scalars());
  record_.agreed = false;
  if (saves() && steps() > 0) save(options_.checkpoint);
  background_.will_return();
  return Agreement::kPaused;
}

/// `changed`: the model was since the last round, and all workers make one more.
Agreement Session::Impl::agree_in_lock_step(bool changed) {
  if (changed) {
    try {
      (void)pass_boundary(values_.pull());
    } catch (const DeadlineError& error) {
      options_.log(LogLevel::kWarning, error.what());
      return Agreement::kDeadline;
    }
    values_.push();
  }
  const bool completed = await_others(options_.exchange.wait_deadline, "to complete the last round",
                                      [](const PumpStatus& s) { return s.neighbours_completed; });
  want(WorkerState::kFrozen);
  return completed ? Agreement::kAgreed : Agreement::kDeadline;
}

bool Session::Impl::settle() {
  const auto settled = [](const PumpStatus& s) { return s.may_freeze; };
  if (aims() && done()) {
    // What all have done is known to each by a few steps more or less. As long as others make
    // steps, they come to know it; whoever makes none itself would wait for the rest for ever.
    // Patience first waits so long for a sign of them, and then as long again.
    const TimePoint now = EventLoop::now();
    const std::chrono::duration<double> training = now - joined_at_;
    const auto steps = static_cast<double>(boundary_.standing().step);
    const double step = steps == 0 ? 0 : training.count() / steps;
    const double still = std::min(options_.exchange.settle_deadline, std::max(kStill, 2 * step));
    if (background_.await(Patience(still, still, now), settled, [](const PumpStatus&) {})) {
      return true;
    }
    if (background_.stopped()) return false;
    progress_.stop();
    mixer_.fold_telemetry(progress_.scalars());
  }
  return await_others(options_.exchange.settle_deadline, "to be done, too", settled);
}

void Session::Impl::want(WorkerState state) {
  boundary_.standing().wanted = state;
  publish();
}

}  // namespace fast
