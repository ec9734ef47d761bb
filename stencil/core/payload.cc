#include "stencil/core/payload.h"

#include <algorithm>
#include <new>

#include "stencil/core/payload_pool.h"

namespace stencil {
namespace {

constexpr std::align_val_t kAlignment{64};

class OwnMemory final : public PayloadMemory {
 public:
  explicit OwnMemory(Bytes bytes) : own_(std::move(bytes)) { bytes_ = own_; }

 private:
  void retire() override { delete this; }
  Bytes own_;
};

}  // namespace

Payload::Payload(Bytes bytes) : Payload(new OwnMemory(std::move(bytes))) {}

void PooledMemory::retire() {
  empty();
  // This may be the last reference to the list, whose destructor deletes this object: give() must
  // return first.
  const std::shared_ptr<ReturnedPayloads> home = std::move(home_);
  home->give(this);
}

ReturnedPayloads::~ReturnedPayloads() {
  while (const PooledMemory* memory = take()) delete memory;
}

void ReturnedPayloads::give(PooledMemory* memory) {
  memory->next_ = given_.load(std::memory_order_relaxed);
  while (!given_.compare_exchange_weak(memory->next_, memory, std::memory_order_release,
                                       std::memory_order_relaxed)) {
  }
}

/// Takes the whole list at once, so that no piece can be seen at its head twice (no ABA problem).
PooledMemory* ReturnedPayloads::take() {
  if (taken_ == nullptr) taken_ = given_.exchange(nullptr, std::memory_order_acquire);
  PooledMemory* memory = taken_;
  if (memory != nullptr) taken_ = memory->next_;
  return memory;
}

std::span<std::byte> BucketMemory::use(std::size_t size, std::size_t capacity) {
  if (size > capacity_) {
    storage_.reset();
    capacity_ = std::max(size, capacity);
    storage_.reset(static_cast<std::byte*>(::operator new[](capacity_, kAlignment)));
  }
  bytes_ = {storage_.get(), size};
  return {storage_.get(), size};
}

void BucketMemory::Free::operator()(std::byte* bytes) const {
  ::operator delete[](bytes, kAlignment);
}

}  // namespace stencil
