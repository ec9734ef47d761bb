#include "stencil/io/waits.h"

#include "stencil/io/context.h"
//
#include <array>
#include <atomic>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>

#include "stencil/core/error.h"
#include "stencil/io/event_loop.h"

namespace stencil {

using boost::asio::posix::stream_descriptor;

struct Watch::Wait {
  stream_descriptor::wait_type what;
  std::function<void()> on_ready;
  bool under_way = false;
};

/// Handlers share it, so that one which is due when the Watch ends finds that it has.
struct Watch::State {
  IoContext& context;
  stream_descriptor descriptor;
  Wait readable, writable;
  bool ended = false;
};

Watch::Watch(EventLoop& loop, int descriptor, std::function<void()> on_readable,
             std::function<void()> on_writable) try
    : state_(new State{loop.context(),
                       stream_descriptor(loop.context().asio, descriptor),
                       {stream_descriptor::wait_read, std::move(on_readable)},
                       {stream_descriptor::wait_write, std::move(on_writable)}}) {
} catch (const boost::system::system_error& error) {
  throw ResourceError(std::string("cannot wait on a descriptor: ") + error.what(),
                      "raise fs.epoll.max_user_watches");
}

Watch::~Watch() {
  state_->ended = true;
  state_->descriptor.release();
}

void Watch::wait_readable() {
  wait(state_->readable);
}

void Watch::wait_writable() {
  wait(state_->writable);
}

void Watch::wait(Wait& wait) {
  state_->context.thread.check("Watch::wait()");
  if (std::exchange(wait.under_way, true)) return;
  state_->descriptor.async_wait(
      wait.what, Handler{&state_->context.memory,
                         [state = state_, &wait](const boost::system::error_code& error) {
                           wait.under_way = false;
                           if (!error && !state->ended) wait.on_ready();
                         }});
}

struct Alarm::State {
  IoContext& context;
  boost::asio::steady_timer timer;
  std::function<void()> on_time;
  std::uint64_t set = 0;  ///< how many times; a handler of an earlier one has nothing to say
};

Alarm::Alarm(EventLoop& loop, std::function<void()> on_time)
    : state_(new State{loop.context(), boost::asio::steady_timer(loop.context().asio),
                       std::move(on_time)}) {}

Alarm::~Alarm() {
  end();
}

void Alarm::set(TimePoint time) {
  state_->context.thread.check("Alarm::set()");
  state_->timer.expires_at(time);
  begin();
}

void Alarm::set_after(Duration duration) {
  state_->context.thread.check("Alarm::set_after()");
  state_->timer.expires_after(duration);
  begin();
}

void Alarm::cancel() {
  state_->context.thread.check("Alarm::cancel()");
  end();
}

void Alarm::end() {
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

struct Signal::State {
  IoContext& context;
  std::function<void()> on_raised;
  std::atomic<bool> raised{false};
  bool ended = false;
  Slot memory{};  ///< there is one handler at a time
};

Signal::Signal(EventLoop& loop, std::function<void()> on_raised)
    : state_(new State{loop.context(), std::move(on_raised)}) {}

Signal::~Signal() {
  state_->ended = true;
}

void Signal::raise() {
  if (state_->raised.exchange(true, std::memory_order_acq_rel)) return;
  boost::asio::post(state_->context.asio,
                    Handler{SlotAllocator<std::byte>(&state_->memory), [state = state_] {
                              // First: what is raised from now on is news.
                              state->raised.exchange(false, std::memory_order_acq_rel);
                              if (!state->ended) state->on_raised();
                            }});
}

}  // namespace stencil
