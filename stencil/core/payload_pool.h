#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <span>

#include "stencil/core/payload.h"

namespace stencil {

/// Pooled memory that waits to be used again. Any thread may give; one thread takes.
class ReturnedPayloads;

/// Memory that returns to its pool. The pool owns it while nobody holds it.
class PooledMemory : public PayloadMemory {
 private:
  friend class ReturnedPayloads;
  template <typename Memory>
  friend class PayloadPool;
  /// Releases what the memory refers to, before it returns to the pool.
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
  [[nodiscard]] PooledMemory* take();  ///< null where none has been returned
  /// Whether take() would return one.
  [[nodiscard]] bool any() const {
    return taken_ != nullptr || given_.load(std::memory_order_relaxed) != nullptr;
  }

 private:
  std::atomic<PooledMemory*> given_{nullptr};
  PooledMemory* taken_ = nullptr;  ///< the taker's
};

/// Reusable memory for payloads. The pool holds as many pieces as were ever in use at once, which
/// the protocol's windows bound, and allocates nothing after that. `Memory` derives from
/// PooledMemory. take() belongs to one thread. Any thread may hold what it returned, which may
/// outlive the pool.
template <typename Memory>
class PayloadPool {
 public:
  /// Pass the result to a Payload.
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
  /// Whether take() could do with `most` pieces.
  [[nodiscard]] bool has_room(std::size_t most) const { return made_ < most || returned_->any(); }

 private:
  std::shared_ptr<ReturnedPayloads> returned_ = std::make_shared<ReturnedPayloads>();
  std::size_t made_ = 0;
};

/// Memory to write a bucket into.
class BucketMemory final : public PooledMemory {
 public:
  /// Returns `size` bytes, aligned for SIMD, uninitialised. Requires that nobody else holds the
  /// memory. Where an allocation is needed it is of `capacity` bytes, the largest size that will
  /// ever be asked for.
  [[nodiscard]] std::span<std::byte> use(std::size_t size, std::size_t capacity);

 private:
  struct Free {
    void operator()(std::byte* bytes) const;
  };
  std::unique_ptr<std::byte[], Free> storage_;
  std::size_t capacity_ = 0;
};

/// Memory for payloads, in pieces of two sizes, so that a payload of a few bytes (the telemetry's,
/// a small share of a bucket) does not hold a piece for the largest. Threads: as PayloadPool.
class BucketPool {
 public:
  static constexpr std::size_t kSmall = 4096;  ///< bytes; larger payloads take a large piece

  /// Gives `payload` memory of `size` bytes, which the caller fills before anybody else reads it.
  /// `largest` is the largest size that will ever be asked for.
  [[nodiscard]] std::span<std::byte> give(Payload& payload, std::size_t size, std::size_t largest) {
    const bool small = size <= kSmall;
    BucketMemory* const memory = (small ? small_ : large_).take();
    payload = Payload(memory);
    return memory->use(size, small ? std::min(kSmall, largest) : largest);
  }
  /// Whether give() of that size could do with `most` pieces of each of the two sizes.
  [[nodiscard]] bool has_room(std::size_t size, std::size_t most) const {
    return (size <= kSmall ? small_ : large_).has_room(most);
  }
  /// Bytes of all pieces.
  [[nodiscard]] std::size_t bytes(std::size_t largest) const {
    return small_.made() * std::min(kSmall, largest) + large_.made() * largest;
  }
  /// Pieces in existence, and those of them that are large.
  [[nodiscard]] std::size_t made() const { return small_.made() + large_.made(); }
  [[nodiscard]] std::size_t made_large() const { return large_.made(); }

 private:
  PayloadPool<BucketMemory> small_, large_;
};

}  // namespace stencil
