#include "stencil/threads/thread_check.h"

#include <string>

#include "stencil/core/error.h"

namespace stencil {

template <bool kChecked>
void BasicOwningThread<kChecked>::fail(const char* what) {
  throw InvariantError(std::string(what) + " was called on another thread than it belongs to");
}

template <bool kChecked>
bool BasicOneAtATime<kChecked>::enter(const char* what) {
  const std::thread::id self = std::this_thread::get_id();
  std::thread::id inside;
  if (inside_.compare_exchange_strong(inside, self)) return true;
  if (inside == self) return false;
  throw InvariantError(std::string(what) + " was called while another thread was inside, and " +
                       "one at a time may be");
}

template class BasicOwningThread<true>;
template class BasicOwningThread<false>;
template class BasicOneAtATime<true>;
template class BasicOneAtATime<false>;

}  // namespace stencil
