#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace stencil {

using Bytes = std::vector<std::byte>;

/// The memory behind payloads, with a reference count. The derived class decides where the memory
/// comes from and where it goes after its last holder; see PayloadPool.
class PayloadMemory {
 public:
  PayloadMemory(const PayloadMemory&) = delete;
  PayloadMemory& operator=(const PayloadMemory&) = delete;
  /// May have any alignment where the bytes were received.
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

 protected:
  PayloadMemory() = default;
  virtual ~PayloadMemory() = default;
  std::span<const std::byte> bytes_;

 private:
  friend class Payload;
  /// Called when nobody holds the memory any more, in the thread of its last holder.
  virtual void retire() = 0;
  std::atomic<std::uint32_t> holders_{0};
};

/// Shared, immutable bytes of one bucket. The pump (until the other end has applied it) and a
/// transport (until sent) may hold the same bytes. Null means no payload. Copies may belong to
/// different threads.
class Payload {
 public:
  Payload() = default;
  explicit Payload(PayloadMemory* memory) : memory_(memory) { hold(); }
  /// Takes `bytes` over, in memory of its own on the heap.
  explicit Payload(Bytes bytes);
  Payload(const Payload& other) : memory_(other.memory_) { hold(); }
  Payload(Payload&& other) noexcept : memory_(std::exchange(other.memory_, nullptr)) {}
  Payload& operator=(Payload other) noexcept {
    std::swap(memory_, other.memory_);
    return *this;
  }
  ~Payload() {
    if (memory_ != nullptr && memory_->holders_.fetch_sub(1, std::memory_order_acq_rel) == 1)
      memory_->retire();
  }

  /// Releases this reference as a bare pointer, for an owner that can keep nothing else.
  /// take_back() turns it into a Payload again and must be called once.
  [[nodiscard]] PayloadMemory* hand_out() { return std::exchange(memory_, nullptr); }
  [[nodiscard]] static Payload take_back(PayloadMemory* memory) {
    Payload payload;
    payload.memory_ = memory;
    return payload;
  }

  explicit operator bool() const { return memory_ != nullptr; }
  [[nodiscard]] std::span<const std::byte> bytes() const {
    return memory_ == nullptr ? std::span<const std::byte>() : memory_->bytes();
  }
  /// The same memory.
  friend bool operator==(const Payload&, const Payload&) = default;

 private:
  void hold() {
    if (memory_ != nullptr) memory_->holders_.fetch_add(1, std::memory_order_relaxed);
  }
  PayloadMemory* memory_ = nullptr;
};

[[nodiscard]] inline std::span<const std::byte> view(const Payload& payload) {
  return payload.bytes();
}

}  // namespace stencil
