#include "fast/session/background.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <utility>

#include "fast/errors.h"
#include "fast/options/addresses.h"
#include "fast/options/security.h"
#include "fast/session/pump_options.h"
#include "fast/session/sharing.h"
#include "stencil/core/text.h"
#include "stencil/transport/factory.h"

namespace fast {
namespace {

using stencil::EventLoop;
using stencil::MutexLock;
using stencil::PumpStatus;
using stencil::Standing;
using stencil::TimePoint;

constexpr stencil::Duration kStatusEvery = std::chrono::milliseconds(50);
constexpr stencil::Duration kWaitingEvery = std::chrono::milliseconds(100);
constexpr double kFlushSeconds = 2;
constexpr std::size_t kFrameSlack = 4096;

bool all_share_memory(const PumpStatus& status) {
  return std::ranges::all_of(status.neighbours, &stencil::NeighbourStatus::shared);
}

std::vector<stencil::Rank> ranks_of(const std::vector<stencil::Place>& places) {
  std::vector<stencil::Rank> ranks;
  for (const stencil::Place& place : places) ranks.push_back(place.rank);
  return ranks;
}

}  // namespace

Background::Background(const SessionOptions& options, stencil::PumpOptions config,
                       const stencil::Bounds& bounds, const stencil::Layout& layout,
                       stencil::Mixer& mixer, PauseWait& pause, std::map<int, std::string> came)
    : options_(options),
      peers_(Peers(options.peers, options.peers_file, options.peer_template), options.log),
      came_(std::move(came)),
      complaints_(options.log),
      recording_(options, bounds.recording),
      shown_(kStatusEvery),
      sweep_watch_(config.engine),
      mixer_(mixer),
      pause_(pause) {
  if (const auto files = key_files(options)) {
    keys_ = std::make_unique<KeyWatch>(*files, options.rank, ranks_of(config.engine.neighbours),
                                       options.log);
  }
  transport_ = stencil::make_transport(
      {.loop = &loop_,
       .listen = options.listen,
       .usual_scheme = usual_scheme(options),
       .max_frame_bytes = largest_payload(layout, *config.carried) + kFrameSlack,
       .queue_frames = bounds.queue_frames,
       .seed = static_cast<std::uint64_t>(config.engine.rank),
       .max_partial_payloads = bounds.partial_payloads,
       .packet_bytes = options.exchange.packet_bytes,
       .keys = keys_ ? stencil::KeySource([this] {
         loop_.check_thread("the transport's keys");
         return keys_->current();
       })
                     : nullptr,
       .complain =
           [this](const std::string& cause, std::string_view text) {
             loop_.check_thread("the transport's complaint");
             complaints_.about_stranger(cause, text);
           },
       .unresolved =
           [this](const std::string& name, const std::string& error) {
             loop_.check_thread("the transport's unresolved name");
             report_unresolved(name, error);
           },
       .inproc = options.inproc});
  endpoint_ = transport_->endpoint();
  if (mixer.segment().descriptor() >= 0) {
    meeting_ = make_meeting(layout, config.engine, mixer.segment(), options.log);
  }
  if (meeting_) config.engine.hello.meeting = meeting_->token();
  config.witness = recording_.witness();
  pump_ = std::make_unique<stencil::Pump>(
      std::move(config), mixer, *transport_,
      [this](stencil::Rank rank) {
        loop_.check_thread("Background::addresses_of()");
        return addresses_of(rank);
      },
      options.log, EventLoop::now(), meeting_.get());
  status_ = pump_->status();
  joining_ = !status_.joined;
  if (meeting_) meeting_watch_.emplace(loop_, meeting_->descriptor(), [this] { loop_.ask(); });
  loop_.start(
      [this](TimePoint now) {
        loop_.check_thread("Background::turn()");
        return turn(now);
      },
      [this](const std::string& what) {
        loop_.check_thread("Background::fail()");
        fail(what);
      });
}

Background::~Background() {
  flush([](const PumpStatus& s) { return s.flushed; });
  leave_ = true;
  loop_.wake();
  flush([this](const PumpStatus&) { return left_.load(); });
  loop_.stop();
  if (!failed_) recording_.write();
}

void Background::publish(const Standing& standing) {
  {
    const MutexLock lock(mutex_);
    standing_ = standing;
  }
  loop_.wake();
}

void Background::change(GridChange change) {
  {
    const MutexLock lock(mutex_);
    changes_.push_back(std::move(change));
  }
  loop_.wake();
}

void Background::set_settle_threshold(double threshold) {
  {
    const MutexLock lock(mutex_);
    settle_threshold_ = threshold;
  }
  loop_.wake();
}

void Background::make(TimePoint now, const GridChange& change) {
  for (const auto& [rank, listen] : change.listen) came_[rank] = listen;
  for (const stencil::Rank rank : change.gone) pump_->remove(now, rank);
  for (const stencil::Place& place : change.come) pump_->add(now, place);
  pump_->follow(now, change.figures);
  sweep_watch_.follow(change.figures, change.places.size());
  if (keys_) keys_->follow(ranks_of(change.places));
}

PumpStatus Background::status() const {
  const MutexLock lock(mutex_);
  return status_;
}

template <typename Judge>
bool Background::wait(Judge judge, const Condition& condition, bool heed_stop,
                      const std::function<void(const PumpStatus&)>& tell) {
  watched_ = true;
  loop_.wake();
  MutexLock lock(mutex_);
  bool fulfilled = false;
  TimePoint call_at = EventLoop::now() + kWaitingEvery;
  while (!(fulfilled = condition(status_)) && failure_.empty() && !(heed_stop && stopped())) {
    const Verdict verdict = judge(EventLoop::now(), status_);
    if (verdict == Verdict::kGiveUp) {
      fulfilled = condition(status_);
      break;
    }
    if (verdict == Verdict::kTell) {
      const PumpStatus status = status_;
      lock.unlock();  // the log is the user's
      tell(status);
      lock.lock();
    }
    // A signal handler may set `stop`, and it must not notify; so this wait polls.
    changed_.wait_for(lock, kWaitingEvery);
    if (heed_stop && options_.waiting && EventLoop::now() >= call_at) {
      lock.unlock();
      options_.waiting();
      lock.lock();
      call_at = EventLoop::now() + kWaitingEvery;
    }
  }
  watched_ = false;
  return fulfilled;
}

auto Background::until_time(TimePoint until) {
  return [until](TimePoint now, const PumpStatus&) {
    return now >= until ? Verdict::kGiveUp : Verdict::kWait;
  };
}

bool Background::await(double deadline, const Condition& condition) {
  const TimePoint until = EventLoop::now() + stencil::seconds(deadline);
  const bool fulfilled = wait(until_time(until), condition, /*heed_stop=*/true);
  rethrow_failure();
  return fulfilled;
}

bool Background::await(Patience patience, const Condition& condition,
                       const std::function<void(const PumpStatus&)>& waits) {
  const auto judge = [&](TimePoint now, const PumpStatus& status) {
    if (patience.over(now, status)) return Verdict::kGiveUp;
    return patience.worth_a_line(now) ? Verdict::kTell : Verdict::kWait;
  };
  const bool fulfilled = wait(judge, condition, /*heed_stop=*/true, waits);
  rethrow_failure();
  return fulfilled;
}

void Background::flush(const Condition& condition) {
  const TimePoint until = EventLoop::now() + stencil::seconds(kFlushSeconds);
  (void)wait(until_time(until), condition, /*heed_stop=*/false);
}

/// Notes the failure that ends the background thread.
void Background::fail(const std::string& what) {
  options_.log(LogLevel::kError, "the background thread failed: " + what);
  recording_.write();
  const MutexLock lock(mutex_);
  failure_ = what;
  failed_ = true;
  changed_.notify_all();
}

void Background::rethrow_failure() const {
  if (!failed_) return;
  const MutexLock lock(mutex_);
  throw std::runtime_error("the background thread failed: " + failure_);
}

std::vector<stencil::PeerAddress> Background::addresses_of(stencil::Rank rank) {
  const auto came = came_.find(rank);
  const bool named = came != came_.end() && !came->second.empty();
  const std::optional<std::string> endpoint = named ? came->second : peers_.find(rank);
  if (!endpoint) return {};
  if (!keys_) return {*endpoint};
  std::vector<stencil::PeerAddress> addresses;
  for (const stencil::PublicKey& key : keys_->current()->of(rank)) {
    addresses.emplace_back(*endpoint, key);
  }
  return addresses;
}

void Background::report_unresolved(const std::string& name, const std::string& error) {
  if (unresolved_.size() >= stencil::Complaints::kMost || !unresolved_.insert(name).second) return;
  options_.log(LogLevel::kWarning,
               "the name " + stencil::in_quotes(name) + " cannot be resolved: " + error +
                   "; check it, or give an address in numbers (logged once, and tried again)");
}

TimePoint Background::turn(TimePoint now) {
  Standing standing;
  std::vector<GridChange> changes;
  std::optional<double> threshold;
  {
    const MutexLock lock(mutex_);
    standing = standing_;
    changes.swap(changes_);
    threshold = std::exchange(settle_threshold_, std::nullopt);
  }
  for (const GridChange& change : changes) make(now, change);
  if (threshold) pump_->set_settle_threshold(*threshold);
  standing.leave = leave_;
  standing.pauses = returns_;
  standing.pause = pause_.present(now, standing.pause);
  const TimePoint next = std::min(pump_->turn(now, standing), pause_.changes(now));
  if (meeting_watch_) meeting_watch_->wait_readable();
  if (standing.leave) left_ = true;
  pause_.note(now, pump_->engine());
  mixer_.fold_lent([&](std::uint32_t bucket) { return pause_.has_come(now, bucket); });
  const bool joining = pump_->engine().state() == stencil::WorkerState::kJoining;
  const std::uint64_t adopted = pump_->engine().joining().adopted();
  const bool watched = watched_ || joining != joining_ || adopted != adopted_;
  if (shown_.due(now, watched)) {
    recording_.heed();
    const PumpStatus& status = pump_->status();
    watch_sweeps(now, status, standing.step);
    watch_codec(status);
    if (const auto rank = edge_watch_.look(now, status.engine.sweeps, status.neighbours)) {
      options_.log(LogLevel::kWarning, EdgeWatch::advice(*rank));
    }
    if (const auto rank = path_watch_.look(now, status.neighbours)) {
      options_.log(LogLevel::kWarning, PathWatch::advice(*rank, options_.naming));
    }
    if (const auto rank =
            batch_watch_.look(standing.first_batch, options_.rank, status.neighbours)) {
      options_.log(LogLevel::kWarning, BatchWatch::advice(options_.rank, *rank));
    }
    if (const auto line = data_watch_.look(status, options_)) {
      options_.log(LogLevel::kWarning, *line);
    }
    const MutexLock lock(mutex_);
    status_ = status;
    status_.memory += recording_.held();
    joining_ = joining;
    adopted_ = adopted;
    if (watched) changed_.notify_all();
  }
  return std::min(next, shown_.next());
}

void Background::watch_sweeps(TimePoint now, const PumpStatus& status, std::uint64_t step) {
  const bool reached = std::ranges::any_of(status.neighbours, [](const auto& neighbour) {
    return neighbour.link == stencil::LinkState::kUp;
  });
  // Within an allowance of data sweeps are rarer on purpose, as DataWatch says.
  const bool judged = reached && status.data_pace >= 1;
  if (const auto rate = sweep_watch_.look(now, step, status.engine.sweeps, judged)) {
    const auto slowest =
        std::ranges::max_element(status.neighbours, {}, &stencil::NeighbourStatus::round_trip);
    const bool shared = all_share_memory(status);
    options_.log(LogLevel::kWarning, sweep_watch_.advice(*rate, slowest->round_trip, shared));
  }
}

/// Says once where the codec has nothing to do, since all neighbours share memory.
void Background::watch_codec(const PumpStatus& status) {
  if (codec_watched_ || status.neighbours.empty() || !all_share_memory(status)) return;
  codec_watched_ = true;
  if (options_.exchange.codec == ExchangeOptions{}.codec) return;
  options_.log(LogLevel::kWarning,
               options_.naming("codec") + " " + options_.exchange.codec +
                   " codes nothing: all neighbours are on this host and share memory; to have it "
                   "code, give " +
                   options_.naming("share_memory") + " never");
}

}  // namespace fast
