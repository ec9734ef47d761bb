#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "stencil/transport/stream/endpoint.h"

namespace stencil {

/// Looks a name up in a thread of its own, since the system's resolver can take half a minute; left
/// to itself where nobody waits for it any more.
class Lookup {
 public:
  explicit Lookup(const Endpoint& endpoint);
  /// Readable once there is a result.
  [[nodiscard]] int descriptor() const;
  /// Empty where the name is unknown; nothing while it is looked up.
  [[nodiscard]] std::optional<std::vector<Address>> result() const;

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace stencil
