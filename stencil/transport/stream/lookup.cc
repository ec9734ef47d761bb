#include "stencil/transport/stream/lookup.h"

#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace stencil {

struct Lookup::Shared {
  std::mutex mutex;
  LookedUp result;
  Signal* done = nullptr;  ///< null once nobody waits
};

Lookup::Lookup(const TransportOptions& options, const Endpoint& endpoint, Found found)
    : shared_(std::make_shared<Shared>()),
      done_(loop_of(options),
            [shared = shared_, &options, name = endpoint.host, found = std::move(found)] {
              const auto& [addresses, error] = shared->result;
              if (addresses.empty() && options.unresolved) options.unresolved(name, error);
              found(addresses);
            }) {
  shared_->done = &done_;
  try {
    std::thread([shared = shared_, endpoint] {
      LookedUp result = look_up(endpoint);
      const std::lock_guard lock(shared->mutex);
      shared->result = std::move(result);
      if (shared->done != nullptr) shared->done->raise();
    }).detach();
  } catch (const std::system_error& error) {
    throw ResourceError(std::string("cannot start a thread: ") + error.what(),
                        "raise the limit of processes (ulimit -u)");
  }
}

Lookup::~Lookup() {
  const std::lock_guard lock(shared_->mutex);
  shared_->done = nullptr;
}

}  // namespace stencil
