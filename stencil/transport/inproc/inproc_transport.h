#pragma once

#include <memory>

#include "stencil/transport/factory.h"

namespace stencil {

/// Where transports of one process meet: names of those who listen, and the queues between them.
/// Handed to each transport that shall take part; there is none by default. All of its state is
/// behind one mutex, held for a queue operation and never across a call to anybody.
class InprocNetwork {
 public:
  InprocNetwork();
  ~InprocNetwork();
  InprocNetwork(const InprocNetwork&) = delete;
  InprocNetwork& operator=(const InprocNetwork&) = delete;

  class Impl;
  [[nodiscard]] Impl& impl() { return *impl_; }  ///< for the transports alone

 private:
  std::unique_ptr<Impl> impl_;
};

/// Frames between threads of one process: header moved, payload shared. Keys are proven as they
/// are elsewhere, but between threads of one process that is a matter of honesty. Endpoints are
/// "inproc://NAME"; listening on "inproc://" hands out a name. Throws ConfigError when the name is
/// taken or `options.inproc` is null.
[[nodiscard]] std::unique_ptr<Transport> make_inproc_transport(const TransportOptions& options);

}  // namespace stencil
