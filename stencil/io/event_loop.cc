// One thread, one io_context. Handlers only note what happened; the thread's own loop then runs one
// turn for all of it:
//
//   1. turn; it handles everything there is
//   2. wait again on each descriptor that had fired, and on the timer
//   3. sleep until something fires
//
// Waiting again only after the turn loses nothing: a wait completes at once on a descriptor that is
// readable when the wait begins. Doing it before the turn would report each event twice.

#include "stencil/io/event_loop.h"

#include <sys/eventfd.h>
#include <unistd.h>

// <utility> first: Boost 1.74's asio forgets it in C++20.
#include <utility>
//
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <memory_resource>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "stencil/core/error.h"

namespace stencil {
namespace {

using boost::asio::posix::stream_descriptor;

/// What asio keeps of a wait lies in `memory`. By itself asio would allocate it anew for each wait
/// that begins outside a handler, as all of ours do.
template <typename Function>
struct Handler {
  using allocator_type = std::pmr::polymorphic_allocator<std::byte>;

  [[nodiscard]] allocator_type get_allocator() const noexcept { return memory; }
  void operator()(const boost::system::error_code& error) { function(error); }

  allocator_type memory;
  Function function;
};

template <typename Function>
Handler(std::pmr::memory_resource*, Function) -> Handler<Function>;

}  // namespace

class EventLoop::Impl {
 public:
  Impl() : timer_(context_) {
    const int descriptor = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (descriptor < 0)
      throw std::system_error(errno, std::generic_category(), "cannot create an event descriptor");
    add(descriptor);
  }

  ~Impl() {
    stop();
    const int wake_descriptor = sources_.front()->descriptor.native_handle();
    for (auto& source : sources_) source->descriptor.release();
    ::close(wake_descriptor);
  }

  void add(int descriptor) {
    if (thread_.joinable()) throw InvariantError("EventLoop::watch() after start()");
    sources_.push_back(std::make_unique<Source>(context_, descriptor));
  }

  void start(Turn turn, std::function<void(const std::string&)> on_failure) {
    if (thread_.joinable()) throw InvariantError("EventLoop::start() called twice");
    thread_ = std::thread([this, turn = std::move(turn), on_failure = std::move(on_failure)] {
      try {
        run(turn);
      } catch (const std::exception& failure) {
        if (on_failure) on_failure(failure.what());
      } catch (...) {
        if (on_failure) on_failure("an exception of unknown type");
      }
    });
  }

  void wake() {
    if (!wake_pending_.exchange(true, std::memory_order_acq_rel)) signal();
  }

  void stop() {
    stopping_.store(true, std::memory_order_release);
    signal();
    const std::lock_guard lock(join_mutex_);
    if (thread_.joinable()) thread_.join();
  }

 private:
  struct Source {
    Source(boost::asio::io_context& context, int fd) : descriptor(context, fd) {}
    stream_descriptor descriptor;
    bool waiting = false;
  };

  /// No allocation and no lock: wake() is called from the training thread at each step.
  void signal() {
    const std::uint64_t one = 1;
    // Fails only when the counter is full, and then the descriptor is readable anyway.
    [[maybe_unused]] const auto written =
        ::write(sources_.front()->descriptor.native_handle(), &one, sizeof one);
  }

  void run(const Turn& turn) {
    while (!stopping_.load(std::memory_order_acquire)) {
      const TimePoint next = turn(EventLoop::now());
      for (std::size_t i = 0; i < sources_.size(); ++i) wait_for(i);
      due_ = next <= EventLoop::now();
      if (!due_) arm_timer(next);
      while (!due_ && !stopping_.load(std::memory_order_acquire)) context_.run_one();
      context_.poll();
    }
  }

  void wait_for(std::size_t index) {
    Source& source = *sources_[index];
    if (source.waiting) return;
    source.waiting = true;
    source.descriptor.async_wait(
        stream_descriptor::wait_read,
        Handler{&memory_, [this, index](const boost::system::error_code& error) {
                  sources_[index]->waiting = false;
                  if (error)
                    throw boost::system::system_error(error, "cannot wait on a descriptor");
                  if (index == 0) clear_wake();
                  due_ = true;
                }});
  }

  /// Empties the descriptor before the flag: a wake() in between finds the flag set, writes
  /// nothing, and is seen by the turn that follows.
  void clear_wake() {
    std::uint64_t count = 0;
    [[maybe_unused]] const auto size =
        ::read(sources_.front()->descriptor.native_handle(), &count, sizeof count);
    wake_pending_.exchange(false, std::memory_order_acq_rel);
  }

  void arm_timer(TimePoint next) {
    if (next == armed_) return;
    armed_ = next;
    if (next == kNever) {
      timer_.cancel();
      return;
    }
    timer_.expires_at(next);
    timer_.async_wait(Handler{&memory_, [this, next](const boost::system::error_code& error) {
                                if (error || next != armed_) return;  // replaced by another
                                armed_ = kNever;
                                due_ = true;
                              }});
  }

  /// Of handlers, kept and used again; the loop's thread. The context gives it back when it goes.
  std::pmr::unsynchronized_pool_resource memory_;

  // Constant after start().
  boost::asio::io_context context_{1};
  /// Between a handler and the next wait there is no work; the context must not call that the end.
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
      context_.get_executor()};
  std::vector<std::unique_ptr<Source>> sources_;  ///< the first is our own, for wake() and stop()
  std::thread thread_;
  std::mutex join_mutex_;

  // Any thread.
  std::atomic<bool> wake_pending_{false};
  std::atomic<bool> stopping_{false};

  // The loop's thread.
  boost::asio::steady_timer timer_;
  TimePoint armed_ = kNever;
  bool due_ = false;
};

EventLoop::EventLoop() : impl_(std::make_unique<Impl>()) {}
EventLoop::~EventLoop() = default;

void EventLoop::watch(int descriptor) {
  impl_->add(descriptor);
}

void EventLoop::start(Turn turn, std::function<void(const std::string&)> on_failure) {
  impl_->start(std::move(turn), std::move(on_failure));
}

void EventLoop::wake() {
  impl_->wake();
}
void EventLoop::stop() {
  impl_->stop();
}

TimePoint EventLoop::now() {
  return std::chrono::steady_clock::now();
}

}  // namespace stencil
