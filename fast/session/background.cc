#include "fast/session/background.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <utility>

#include "fast/errors.h"
#include "fast/session/sharing.h"
#include "stencil/transport/factory.h"

namespace fast {
namespace {

using stencil::EventLoop;
using stencil::PumpStatus;
using stencil::Standing;
using stencil::TimePoint;

constexpr stencil::Duration kStatusEvery = std::chrono::milliseconds(50);
constexpr double kFlushSeconds = 2;
constexpr std::size_t kFrameSlack = 4096;

}  // namespace

Background::Background(const SessionOptions& options, stencil::PumpOptions config,
                       const stencil::Layout& layout, stencil::Mixer& mixer, BoundaryWait& boundary)
    : options_(options),
      peers_(Peers(options.peers, options.peers_file, options.peer_template)),
      shown_(kStatusEvery),
      sweep_watch_(config.engine),
      boundary_(boundary) {
  transport_ = stencil::make_transport(
      {.listen = options.listen,
       .max_frame_bytes = layout.bucket_floats() * sizeof(float) + kFrameSlack,
       .queue_frames = static_cast<std::size_t>(32 * options.exchange.window),
       .inproc = options.inproc});
  endpoint_ = transport_->endpoint();
  if (mixer.segment().descriptor() >= 0) {
    meeting_ = make_meeting(layout, config.engine, mixer.segment(), options.log);
  }
  if (meeting_) config.engine.hello.meeting = meeting_->token();
  pump_ = std::make_unique<stencil::Pump>(
      std::move(config), mixer, *transport_,
      [this](stencil::Rank rank) { return peers_.find(rank); }, options.log, EventLoop::now(),
      meeting_.get());
  status_ = pump_->status();
  joining_ = !status_.joined;
  for (const int descriptor : transport_->descriptors()) loop_.watch(descriptor);
  if (meeting_) loop_.watch(meeting_->descriptor());
  loop_.start([this](TimePoint now) { return turn(now); },
              [this](const std::string& what) { fail(what); });
}

Background::~Background() {
  flush([](const PumpStatus& s) { return s.flushed; });
  leave_ = true;
  loop_.wake();
  flush([this](const PumpStatus&) { return left_.load(); });
  loop_.stop();
}

void Background::publish(const Standing& standing) {
  {
    const std::lock_guard lock(mutex_);
    standing_ = standing;
  }
  loop_.wake();
}

PumpStatus Background::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

bool Background::await(double deadline, const Condition& condition) {
  const bool met = wait(deadline, condition, /*heed_stop=*/true);
  rethrow_failure();
  return met;
}

void Background::flush(const Condition& condition) {
  (void)wait(kFlushSeconds, condition, /*heed_stop=*/false);
}

bool Background::wait(double deadline, const Condition& condition, bool heed_stop) {
  const TimePoint until = EventLoop::now() + stencil::seconds(deadline);
  watched_ = true;
  loop_.wake();
  std::unique_lock lock(mutex_);
  bool met = false;
  while (!(met = condition(status_)) && failure_.empty() && !(heed_stop && stopped())) {
    const TimePoint now = EventLoop::now();
    if (now >= until) break;
    // `stop` may be set by a signal handler, which must not notify: look again by itself.
    changed_.wait_for(lock,
                      std::min<stencil::Duration>(until - now, std::chrono::milliseconds(100)));
  }
  watched_ = false;
  return met;
}

/// The background thread's last word.
void Background::fail(const std::string& what) {
  options_.log(LogLevel::kError, "the background thread failed: " + what);
  const std::lock_guard lock(mutex_);
  failure_ = what;
  failed_ = true;
  changed_.notify_all();
}

void Background::rethrow_failure() const {
  if (!failed_) return;
  const std::lock_guard lock(mutex_);
  throw std::runtime_error("the background thread failed: " + failure_);
}

TimePoint Background::turn(TimePoint now) {
  Standing standing;
  {
    const std::lock_guard lock(mutex_);
    standing = standing_;
  }
  standing.leave = leave_;
  const TimePoint next = pump_->turn(now, standing);
  if (standing.leave) left_ = true;
  if (options_.exchange.linger > 0) boundary_.note(now, pump_->engine());
  const bool joining = pump_->engine().state() == stencil::WorkerState::kJoining;
  const std::uint64_t adopted = pump_->engine().joining().adopted();
  const bool watched = watched_ || joining != joining_ || adopted != adopted_;
  if (shown_.due(now, watched)) {
    const PumpStatus& status = pump_->status();
    watch_sweeps(status, standing.step);
    const std::lock_guard lock(mutex_);
    status_ = status;
    joining_ = joining;
    adopted_ = adopted;
    if (watched) changed_.notify_all();
  }
  return std::min(next, shown_.next());
}

void Background::watch_sweeps(const PumpStatus& status, std::uint64_t step) {
  const bool reached = std::ranges::any_of(status.neighbours, [](const auto& neighbour) {
    return neighbour.link == stencil::LinkState::kUp;
  });
  if (const auto rate = sweep_watch_.look(step, status.engine.sweeps, reached)) {
    options_.log(LogLevel::kWarning, sweep_watch_.advice(*rate));
  }
}

}  // namespace fast
