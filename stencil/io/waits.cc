#include "stencil/io/waits.h"

#include <sys/eventfd.h>

#include "stencil/io/context.h"
//
#include <array>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>

#include "stencil/core/error.h"
#include "stencil/io/event_loop.h"

namespace stencil {

using boost::asio::posix::stream_descriptor;

/// Handlers share it, so that one which is due when the Watch ends finds that it has.
struct Watch::State : std::enable_shared_from_this<Watch::State> {
  State(IoContext& loop, int fd, std::array<std::function<void()>, 2> functions) try
      : context(loop), descriptor(loop.asio, fd), on_ready(std::move(functions)) {
  } catch (const boost::system::system_error& error) {
    throw ResourceError(std::string("cannot wait on a descriptor: ") + error.what(),
                        "raise fs.epoll.max_user_watches");
  }

  void wait(stream_descriptor::wait_type what, std::size_t which) {
    if (std::exchange(waiting[which], true)) return;
    descriptor.async_wait(
        what, Handler{&context.memory,
                      [self = shared_from_this(), which](const boost::system::error_code& error) {
                        self->waiting[which] = false;
                        if (!error && !self->ended) self->on_ready[which]();
                      }});
  }

  IoContext& context;
  stream_descriptor descriptor;
  std::array<std::function<void()>, 2> on_ready;  ///< readable, writable
  std::array<bool, 2> waiting{};
  bool ended = false;
};

Watch::Watch(EventLoop& loop, int descriptor, std::function<void()> on_readable,
             std::function<void()> on_writable)
    : state_(std::make_shared<State>(
          loop.context(), descriptor,
          std::array<std::function<void()>, 2>{std::move(on_readable), std::move(on_writable)})) {}

Watch::~Watch() {
  state_->ended = true;
  state_->descriptor.release();
}

void Watch::wait_readable() {
  state_->wait(stream_descriptor::wait_read, 0);
}

void Watch::wait_writable() {
  state_->wait(stream_descriptor::wait_write, 1);
}

struct Alarm::State {
  State(IoContext& loop, std::function<void()> function)
      : context(loop), timer(loop.asio), on_time(std::move(function)) {}

  IoContext& context;
  boost::asio::steady_timer timer;
  std::function<void()> on_time;
  std::uint64_t set = 0;  ///< how many times; a handler of an earlier one has nothing to say
};

Alarm::Alarm(EventLoop& loop, std::function<void()> on_time)
    : state_(std::make_shared<State>(loop.context(), std::move(on_time))) {}

Alarm::~Alarm() {
  cancel();
}

void Alarm::set(TimePoint time) {
  state_->timer.expires_at(time);
  begin();
}

void Alarm::set_after(Duration duration) {
  state_->timer.expires_after(duration);
  begin();
}

void Alarm::cancel() {
  ++state_->set;
  state_->timer.cancel();
}

void Alarm::begin() {
  state_->timer.async_wait(
      Handler{&state_->context.memory,
              [state = state_, set = ++state_->set](const boost::system::error_code& error) {
                if (!error && set == state->set) state->on_time();
              }});
}

Signal::Signal(EventLoop& loop, std::function<void()> on_raised)
    : on_raised_(std::move(on_raised)),
      event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      watch_(loop, event_.get(), [this] { lower(); }) {
  watch_.wait_readable();
}

void Signal::raise() noexcept {
  // Fails only when the counter is full, and then the descriptor is readable anyway.
  if (!raised_.exchange(true, std::memory_order_acq_rel)) ::eventfd_write(event_.get(), 1);
}

/// Empties the descriptor before the flag: a raise() in between finds the flag set, writes nothing,
/// and is seen by the function.
void Signal::lower() {
  eventfd_t count = 0;
  ::eventfd_read(event_.get(), &count);
  raised_.exchange(false, std::memory_order_acq_rel);
  watch_.wait_readable();
  on_raised_();
}

}  // namespace stencil
