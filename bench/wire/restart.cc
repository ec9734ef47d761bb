#include "bench/wire/restart.h"

#include <memory>
#include <optional>
#include <stdexcept>

#include "bench/wire/known_keys.h"
#include "stencil/io/event_loop.h"
#include "stencil/transport/factory.h"

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;
using stencil::Transport;

constexpr std::chrono::seconds kPatience{20};

class Ends {
 public:
  Ends(const std::string& scheme, bool keys) : keys_(keys), listen_(scheme + "127.0.0.1:0") {
    start_listener();
    start_dialler();
  }

  /// A new life of the one that listens, at the same address.
  void start_listener() {
    listener_ = make(listen_, false);
    listen_ = listener_->endpoint();
  }
  void stop_listener() { listener_.reset(); }
  /// A new life of the one that dials.
  void start_dialler() {
    dialler_ = make("", true);
    stencil::PeerAddress address = listen_;
    if (keys_) address.key = known_keys(false)->own_public;
    (void)dialler_->dial(address);
  }
  void stop_dialler() { dialler_.reset(); }

  void await(stencil::LinkEvent event) { work(event, Clock::now() + kPatience); }
  void work_for(std::chrono::milliseconds time) { work(std::nullopt, Clock::now() + time); }

 private:
  [[nodiscard]] std::unique_ptr<Transport> make(const std::string& listen, bool first) {
    stencil::TransportOptions options{.loop = &loop_, .listen = listen};
    if (keys_) options.keys = [ring = known_keys(first)] { return ring; };
    return stencil::make_transport(options);
  }

  void work(std::optional<stencil::LinkEvent> awaited, Clock::time_point until) {
    for (Clock::time_point now = Clock::now(); now < until; now = Clock::now()) {
      while (listener_ && listener_->receive()) {
      }
      while (const auto received = dialler_->receive()) {
        if (received->event == awaited) return;
      }
      (void)loop_.wait(until);
    }
    if (awaited) throw std::runtime_error("a link did not come back");
  }

  stencil::EventLoop loop_;
  bool keys_;
  std::string listen_;
  std::unique_ptr<Transport> listener_, dialler_;
};

double since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace

Restarts restart(const std::string& scheme, bool keys, int times, std::chrono::milliseconds away) {
  Ends ends(scheme, keys);
  ends.await(stencil::LinkEvent::kUp);
  Restarts out;
  for (int life = 0; life < times; ++life) {
    ends.stop_listener();
    ends.await(stencil::LinkEvent::kDown);
    // A few milliseconds more each time, so that lives begin anywhere between two dials.
    ends.work_for(away + std::chrono::milliseconds(37 * life % 400));
    ends.start_listener();
    const Clock::time_point begin = Clock::now();
    ends.await(stencil::LinkEvent::kUp);
    out.listener.push_back(since(begin));
  }
  for (int life = 0; life < times; ++life) {
    ends.stop_dialler();
    const Clock::time_point begin = Clock::now();
    ends.start_dialler();
    ends.await(stencil::LinkEvent::kUp);
    out.dialler.push_back(since(begin));
  }
  return out;
}

}  // namespace bench
