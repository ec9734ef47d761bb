#include "stencil/transport/stream/lookup.h"

#include <system_error>
#include <thread>
#include <utility>

#include "stencil/threads/mutex.h"

namespace stencil {

struct Lookup::Shared {
  Mutex mutex;
  LookedUp result FAST_GUARDED_BY(mutex);
  Signal* done FAST_GUARDED_BY(mutex) = nullptr;  ///< null once nobody waits

  LookedUp take_result() FAST_EXCLUDES(mutex) {
    const MutexLock lock(mutex);
    return std::move(result);
  }
};

Lookup::Lookup(const TransportOptions& options, const Endpoint& endpoint, Found found)
    : shared_(std::make_shared<Shared>()),
      done_(loop_of(options),
            [shared = shared_, &options, name = endpoint.host, found = std::move(found)] {
              const auto [addresses, error] = shared->take_result();
              if (addresses.empty() && options.unresolved) options.unresolved(name, error);
              found(addresses);
            }) {
  {
    const MutexLock lock(shared_->mutex);
    shared_->done = &done_;
  }
  try {
    std::thread([shared = shared_, endpoint] {
      LookedUp result = look_up(endpoint);
      const MutexLock lock(shared->mutex);
      shared->result = std::move(result);
      if (shared->done != nullptr) shared->done->raise();
    }).detach();
  } catch (const std::system_error& error) {
    throw ResourceError(std::string("cannot start a thread: ") + error.what(),
                        "raise the limit of processes (ulimit -u)");
  }
}

Lookup::~Lookup() {
  const MutexLock lock(shared_->mutex);
  shared_->done = nullptr;
}

}  // namespace stencil
