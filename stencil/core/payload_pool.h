#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>

#include "stencil/core/payload.h"

namespace stencil {

/// Where pooled memory waits to be used again. Anybody may give; one thread takes.
class ReturnedPayloads;

/// Memory that goes back to its pool. Belongs to the pool while nobody holds it.
class PooledMemory : public PayloadMemory {
 private:
  friend class ReturnedPayloads;
  template <typename Memory>
  friend class PayloadPool;
  /// Lets go of what it refers to, before it goes back.
  virtual void empty() {}
  void retire() final;

  std::shared_ptr<ReturnedPayloads> home_;  ///< while held, so that it may outlive the pool
  PooledMemory* next_ = nullptr;
};

class ReturnedPayloads {
 public:
  ReturnedPayloads() = default;
  ~ReturnedPayloads();
  ReturnedPayloads(const ReturnedPayloads&) = delete;
  ReturnedPayloads& operator=(const ReturnedPayloads&) = delete;

  void give(PooledMemory* memory);
  [[nodiscard]] PooledMemory* take();  ///< null: none has come back

 private:
  std::atomic<PooledMemory*> given_{nullptr};
  PooledMemory* taken_ = nullptr;  ///< the taker's
};

/// Memory for payloads, used again and again: as many pieces as were ever held at once, which the
/// protocol's windows bound, and no allocation after that. `Memory` derives from PooledMemory.
/// take() belongs to one thread; what was taken may be held anywhere, and outlive the pool.
template <typename Memory>
class PayloadPool {
 public:
  /// To be given to a Payload.
  [[nodiscard]] Memory* take() {
    auto* memory = static_cast<Memory*>(returned_->take());
    if (memory == nullptr) {
      memory = new Memory();
      ++made_;
    }
    memory->home_ = returned_;
    return memory;
  }
  /// Pieces in existence.
  [[nodiscard]] std::size_t made() const { return made_; }

 private:
  std::shared_ptr<ReturnedPayloads> returned_ = std::make_shared<ReturnedPayloads>();
  std::size_t made_ = 0;
};

/// Memory to write a bucket into.
class BucketMemory final : public PooledMemory {
 public:
  /// `size` bytes, aligned for SIMD, of no particular values; nobody else holds it yet. Where they
  /// must be allocated, `capacity` are: the largest that will ever be asked for.
  [[nodiscard]] std::span<std::byte> use(std::size_t size, std::size_t capacity);

 private:
  struct Free {
    void operator()(std::byte* bytes) const;
  };
  std::unique_ptr<std::byte[], Free> storage_;
  std::size_t capacity_ = 0;
};

}  // namespace stencil
