#include "stencil/transport/zmq/flights.h"

#include <algorithm>
#include <utility>

namespace stencil {

bool Flights::may_carry() {
  if (has_room()) return true;
  wanted_.store(true, std::memory_order_seq_cst);
  // One may have landed since: then nobody would be woken any more.
  return has_room();
}

zmq::message_t Flights::carry(const Payload& payload) {
  while (flights_[next_].under_way.load(std::memory_order_acquire)) next_ = (next_ + 1) % kMost;
  Flight& flight = flights_[next_];
  flight.payload = payload;
  flight.home = shared_from_this();
  flight.under_way.store(true, std::memory_order_release);
  const std::span<const std::byte> bytes = view(payload);
  bytes_.fetch_add(bytes.size(), std::memory_order_relaxed);
  count_.fetch_add(1, std::memory_order_relaxed);
  return {const_cast<std::byte*>(bytes.data()), bytes.size(), land, &flight};  // libzmq only reads
}

void Flights::land(void*, void* flight) {
  auto& landed = *static_cast<Flight*>(flight);
  (void)landed.under_way.load(std::memory_order_acquire);
  const std::shared_ptr<Flights> home = std::move(landed.home);
  home->bytes_.fetch_sub(view(landed.payload).size(), std::memory_order_relaxed);
  landed.payload = Payload();
  landed.under_way.store(false, std::memory_order_release);
  home->count_.fetch_sub(1, std::memory_order_seq_cst);
  if (home->wanted_.exchange(false, std::memory_order_seq_cst)) home->room_.raise();
}

}  // namespace stencil
