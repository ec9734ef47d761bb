#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "stencil/io/waits.h"
#include "stencil/transport/factory.h"
#include "stencil/transport/stream/endpoint.h"

namespace stencil {

/// Looks a name up in a thread of its own, since the system's resolver can take half a minute; left
/// to itself where nobody waits for it any more. (Asio's resolver has one thread for all names, and
/// its context's end waits for it.)
class Lookup {
 public:
  using Found = std::function<void(const std::vector<Address>&)>;

  /// `found` is called on the loop, with nothing where the name is unknown, after
  /// options.unresolved. Throws ResourceError where no thread is to be had. `options` must outlive
  /// this.
  Lookup(const TransportOptions& options, const Endpoint& endpoint, Found found);
  ~Lookup();
  Lookup(const Lookup&) = delete;
  Lookup& operator=(const Lookup&) = delete;

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
  Signal done_;
};

}  // namespace stencil
