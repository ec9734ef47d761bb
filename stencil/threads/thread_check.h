#pragma once

#include <atomic>
#include <thread>

namespace stencil {

/// Builds that check at run time which thread does what: those for debugging and with sanitizers.
#ifdef NDEBUG
inline constexpr bool kThreadsChecked = false;
#else
inline constexpr bool kThreadsChecked = true;
#endif

/// The thread that something belongs to between take() and give(). At other times it belongs to
/// whoever made it, and nothing is checked.
template <bool kChecked>
class BasicOwningThread {
 public:
  void take() {
    if constexpr (kChecked) owner_ = std::this_thread::get_id();
  }
  void give() {
    if constexpr (kChecked) owner_ = std::thread::id();
  }
  /// Throws InvariantError on any other thread. `what` is the function that belongs to the owner.
  void check(const char* what) const {
    if constexpr (kChecked) {
      const std::thread::id owner = owner_;
      if (owner != std::thread::id() && owner != std::this_thread::get_id()) fail(what);
    }
  }

 private:
  [[noreturn]] static void fail(const char* what);
  std::atomic<std::thread::id> owner_;
};

/// What belongs to one thread at a time, whichever that is: a training loop may move to another
/// thread between two calls, but two threads must not be inside at once. A thread may enter again
/// from within.
template <bool kChecked>
class BasicOneAtATime {
 public:
  /// Inside until its end.
  class Inside {
   public:
    /// Throws InvariantError where another thread is inside. `what` is the function entered.
    Inside(BasicOneAtATime& of, const char* what) : of_(of) {
      if constexpr (kChecked) outermost_ = of_.enter(what);
    }
    ~Inside() {
      if constexpr (kChecked) {
        if (outermost_) of_.inside_ = std::thread::id();
      }
    }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

   private:
    BasicOneAtATime& of_;
    bool outermost_ = false;
  };

 private:
  [[nodiscard]] bool enter(const char* what);
  std::atomic<std::thread::id> inside_;
};

using OwningThread = BasicOwningThread<kThreadsChecked>;
using OneAtATime = BasicOneAtATime<kThreadsChecked>;

}  // namespace stencil
