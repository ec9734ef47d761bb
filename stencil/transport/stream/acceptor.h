#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "stencil/io/waits.h"
#include "stencil/transport/factory.h"
#include "stencil/transport/stream/endpoint.h"

namespace stencil {

/// Accepts whoever dials us, some at a time.
class Acceptor {
 public:
  /// Waits from now on; `waiting` is called on the loop once somebody does. Throws NetworkError
  /// naming the endpoint and the cause.
  Acceptor(const TransportOptions& options, std::function<void()> waiting);

  [[nodiscard]] const std::string& endpoint() const { return listener_.endpoint(); }
  /// Of those that have not shown that they are workers: a quarter of all descriptors, so that
  /// neighbours, and whatever else this process opens, find one.
  [[nodiscard]] std::size_t most_strangers() const { return most_strangers_; }

  /// Accepts those who wait, a few of them at most, and waits for more. False: there is no
  /// descriptor for the next one, and nobody is waited for until wait().
  [[nodiscard]] bool accept(const std::function<void(Descriptor&&)>& welcome);
  void wait() { newcomers_.wait_readable(); }

 private:
  Listener listener_;
  Watch newcomers_;
  const std::size_t most_strangers_;
};

}  // namespace stencil
