#include "stencil/core/start_hash.h"

#include <xxhash.h>

#include <new>

namespace stencil {

void StartHash::Free::operator()(XXH64_state_s* state) const {
  XXH64_freeState(state);
}

StartHash::StartHash() : state_(XXH64_createState()) {
  if (!state_) throw std::bad_alloc();
  reset();
}

void StartHash::reset() {
  XXH64_reset(state_.get(), 0);
  carries_ = false;
}

void StartHash::add_values(std::span<const std::byte> piece) {
  XXH64_update(state_.get(), piece.data(), piece.size());
}

void StartHash::add_carried(std::span<const std::byte> piece) {
  if (piece.empty()) return;
  // The hash of the values is the seed of what is carried.
  if (!carries_) XXH64_reset(state_.get(), value());
  carries_ = true;
  XXH64_update(state_.get(), piece.data(), piece.size());
}

std::uint64_t StartHash::value() const {
  return XXH64_digest(state_.get());
}

}  // namespace stencil
