#include "fast/session/patient_fold.h"

#include <string>
#include <thread>

#include "fast/session/exchange.h"
#include "stencil/io/event_loop.h"

namespace fast {
namespace {

/// The longest wait for a stopped neighbour that holds a lock of ours.
constexpr double kHeldSeconds = 1;

}  // namespace

void fold_patiently(stencil::Mixer& mixer, ModelValues& values, const LogSink& log) {
  const std::span<float> x = values.pull();
  const stencil::TimePoint until = stencil::EventLoop::now() + stencil::seconds(kHeldSeconds);
  stencil::FoldReport report = mixer.fold(x);
  while (report.deferred > 0 && stencil::EventLoop::now() < until) {
    std::this_thread::yield();
    report = mixer.fold(x);
  }
  values.push();
  if (!report.finite) throw NonFiniteError("parameters became NaN or infinite after training");
  if (report.deferred == 0) return;
  log(LogLevel::kWarning, std::to_string(report.deferred) +
                              " buckets are held by a neighbour that stands still; they lack what "
                              "was agreed on since the last step");
}

}  // namespace fast
