#pragma once

// <utility> first: Boost 1.74's asio forgets it in C++20.
#include <utility>
//
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <memory_resource>

namespace stencil {

/// Asio's context of an EventLoop, and the memory of what waits there. For stencil/io alone.
struct IoContext {
  /// Of handlers, kept and used again. The context gives it back when it goes.
  std::pmr::synchronized_pool_resource memory;
  boost::asio::io_context asio{1};
  /// Between a handler and the next wait there is no work; the context must not call that the end.
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{
      asio.get_executor()};
};

/// What asio keeps of a wait lies in `memory`. By itself asio would allocate it anew for each wait
/// that begins outside a handler, as most of ours do.
template <typename Function>
struct Handler {
  using allocator_type = std::pmr::polymorphic_allocator<std::byte>;

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

}  // namespace stencil
