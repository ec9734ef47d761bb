#include "stencil/transport/stream/lookup.h"

#include <mutex>
#include <thread>

namespace stencil {

struct Lookup::Shared {
  Flag done;  ///< set once, by the thread
  std::mutex mutex;
  std::optional<std::vector<Address>> result;
};

Lookup::Lookup(const Endpoint& endpoint) : shared_(std::make_shared<Shared>()) {
  std::thread([shared = shared_, endpoint] {
    std::vector<Address> found = look_up(endpoint);
    {
      const std::lock_guard lock(shared->mutex);
      shared->result = std::move(found);
    }
    shared->done.set();
  }).detach();
}

int Lookup::descriptor() const {
  return shared_->done.descriptor();
}

std::optional<std::vector<Address>> Lookup::result() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->result;
}

}  // namespace stencil
