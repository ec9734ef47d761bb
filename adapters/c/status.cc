#include <algorithm>
#include <cstring>
#include <exception>

#include "adapters/c/handle.h"

namespace {

/// Runs `body` on the present status. Any thread may call it, so an error leaves no text.
template <typename Body>
fast_code with_status(const fast_session* session, Body body) noexcept {
  if (session == nullptr || !session->session) return FAST_USAGE;
  try {
    return body(session->session->status());
  } catch (const std::exception&) {
    return FAST_FAILURE;
  }
}

/// Copies as much of `filled` as the caller's struct_size holds: fields are only ever added at the
/// end.
template <typename Struct>
fast_code give(Struct filled, Struct* out) {
  const std::size_t size = std::min(out->struct_size, sizeof(Struct));
  if (size < sizeof(out->struct_size)) return FAST_USAGE;
  filled.struct_size = out->struct_size;
  std::memcpy(out, &filled, size);
  return FAST_OK;
}

}  // namespace

fast_code fast_get_status(const fast_session* session, fast_status* status) {
  return with_status(session, [&](const fast::SessionStatus& seen) {
    if (status == nullptr) return FAST_USAGE;
    fast_status filled{};
    filled.state = name(seen.state).data();
    filled.rank = session->session->rank();
    filled.workers = session->session->size();
    filled.neighbours = static_cast<int32_t>(seen.neighbours.size());
    filled.joined_from = seen.joined_from.value_or(-1);
    filled.consensus_distance = seen.consensus_distance;
    filled.flushed = seen.flushed ? 1 : 0;
    filled.initial_from = seen.initial_from.value_or(-1);
    filled.likeness = seen.likeness;
    return give(filled, status);
  });
}

fast_code fast_get_neighbour(const fast_session* session, size_t index, fast_neighbour* neighbour) {
  return with_status(session, [&](const fast::SessionStatus& seen) {
    if (neighbour == nullptr || index >= seen.neighbours.size()) return FAST_USAGE;
    const fast::NeighbourStatus& of = seen.neighbours[index];
    fast_neighbour filled{};
    filled.rank = of.rank;
    filled.shared = of.shared ? 1 : 0;
    filled.link = link_name(of).data();  // of a literal
    filled.state = name(of.state).data();
    filled.step = of.step;
    filled.sweeps = of.sweeps;
    filled.bytes_sent = of.bytes_sent;
    filled.bytes_shared = of.bytes_shared;
    filled.round_trip = of.round_trip;
    filled.since_sweep = of.since_sweep;
    filled.other_grid = of.other_grid ? 1 : 0;
    return give(filled, neighbour);
  });
}

fast_code fast_counters(const fast_session* session, fast_counter_visitor visit, void* context) {
  return with_status(session, [&](const fast::SessionStatus& seen) {
    if (visit == nullptr) return FAST_USAGE;
    for (const auto& [name, value] : seen.counters) visit(context, name.c_str(), value);
    return FAST_OK;
  });
}
