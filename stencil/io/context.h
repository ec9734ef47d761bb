#pragma once

// <utility> first: Boost 1.74's asio forgets it in C++20.
#include <utility>
//
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <memory_resource>
#include <new>

#include "stencil/threads/thread_check.h"

namespace stencil {

/// Asio's context of an EventLoop, and the memory of what waits there. For stencil/io alone.
struct IoContext {
  /// The loop's, while it runs.
  OwningThread thread;
  /// Of handlers of the loop's thread, kept and used again. The context gives it back when it goes.
  std::pmr::unsynchronized_pool_resource memory;
  boost::asio::io_context asio{1};
  /// Between a handler and the next wait there is no work; the context must not call that the end.
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{
      asio.get_executor()};
};

/// Memory for one handler at a time, whichever thread it comes from. (A synchronized pool would
/// keep memory for each thread, and libstdc++'s crashes where a thread and the pool end at once.)
struct Slot {
  std::atomic<bool> taken{false};
  alignas(std::max_align_t) std::byte bytes[256];
};

/// Gives a slot's memory, or, while that is taken, the heap's.
template <typename T>
struct SlotAllocator {
  using value_type = T;

  explicit SlotAllocator(Slot* from) : slot(from) {}
  template <typename Other>
  SlotAllocator(const SlotAllocator<Other>& other) : slot(other.slot) {}

  [[nodiscard]] T* allocate(std::size_t count) {
    const bool fits = count * sizeof(T) <= sizeof slot->bytes;
    if (fits && !slot->taken.exchange(true, std::memory_order_acquire)) {
      return reinterpret_cast<T*>(slot->bytes);
    }
    return static_cast<T*>(::operator new(count * sizeof(T)));
  }
  void deallocate(T* memory, std::size_t /*count*/) {
    if (reinterpret_cast<std::byte*>(memory) != slot->bytes) return ::operator delete(memory);
    slot->taken.store(false, std::memory_order_release);
  }
  template <typename Other>
  bool operator==(const SlotAllocator<Other>& other) const {
    return slot == other.slot;
  }

  Slot* slot;
};

/// What asio keeps of a wait lies in memory of `memory`. By itself asio would allocate it anew for
/// each wait that begins outside a handler, as most of ours do.
template <typename Function, typename Memory = std::pmr::polymorphic_allocator<std::byte>>
struct Handler {
  using allocator_type = Memory;

  [[nodiscard]] allocator_type get_allocator() const noexcept { return memory; }
  template <typename... Result>
  void operator()(const Result&... result) {
    function(result...);
  }

  allocator_type memory;
  Function function;
};

template <typename Function>
Handler(std::pmr::memory_resource*, Function) -> Handler<Function>;
template <typename Function>
Handler(SlotAllocator<std::byte>, Function) -> Handler<Function, SlotAllocator<std::byte>>;

}  // namespace stencil
