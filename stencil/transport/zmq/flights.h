#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <zmq.hpp>

#include "stencil/core/payload.h"
#include "stencil/io/waits.h"

namespace stencil {

/// The payloads of one link that libzmq holds and has not sent. Bounded, so that an urgent frame
/// finds little before it. The link's thread carries; libzmq's thread lands.
class Flights : public std::enable_shared_from_this<Flights> {
 public:
  /// At most so many payloads at a time, and so many bytes or two payloads: one that is being
  /// written, and what keeps libzmq busy until this worker's thread has heard of it.
  static constexpr std::size_t kMost = 32, kMostBytes = 256 << 10;

  /// `room` must last as long as libzmq's context.
  explicit Flights(Signal& room) : room_(room) {}
  Flights(const Flights&) = delete;
  Flights& operator=(const Flights&) = delete;

  /// False: none, and `room` is raised once there is some.
  [[nodiscard]] bool may_carry();
  /// A message that shares the payload's memory until libzmq lets go of it. Requires may_carry().
  [[nodiscard]] zmq::message_t carry(const Payload& payload);

 private:
  struct Flight {
    Payload payload;
    std::shared_ptr<Flights> home;  ///< while under way: it may outlive the link
    std::atomic<bool> under_way{false};
  };
  static void land(void* bytes, void* flight);
  [[nodiscard]] bool has_room() const {
    const std::size_t count = count_.load(std::memory_order_acquire);
    return count < 2 || (count < kMost && bytes_.load(std::memory_order_relaxed) < kMostBytes);
  }

  Signal& room_;
  std::array<Flight, kMost> flights_;
  std::size_t next_ = 0;  ///< where to look for a free one
  std::atomic<std::size_t> count_{0}, bytes_{0};
  std::atomic<bool> wanted_{false};
};

}  // namespace stencil
