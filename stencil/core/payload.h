#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace stencil {

using Bytes = std::vector<std::byte>;

/// The memory behind payloads, counted by those who hold it. Where it comes from, and where it goes
/// after its last holder, is its maker's affair: see PayloadPool.
class PayloadMemory {
 public:
  PayloadMemory(const PayloadMemory&) = delete;
  PayloadMemory& operator=(const PayloadMemory&) = delete;
  /// Of any alignment, where they were received.
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

 protected:
  PayloadMemory() = default;
  virtual ~PayloadMemory() = default;
  std::span<const std::byte> bytes_;

 private:
  friend class Payload;
  /// Nobody holds it any more. In whichever thread let go of it last.
  virtual void retire() = 0;
  std::atomic<std::uint32_t> holders_{0};
};

/// Immutable bytes of one bucket, shared: may be held by the pump (until the other side has
/// settled) and by a transport (until sent) at once. Null means no payload. Copies may belong to
/// different threads.
class Payload {
 public:
  Payload() = default;
  explicit Payload(PayloadMemory* memory) : memory_(memory) { hold(); }
  /// Of memory on the heap, its own.
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

  /// Gives the share out of hand, to somebody who can keep no more than a pointer; take_back()
  /// makes a Payload of it again, once.
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
