#pragma once

#include <cstdint>

namespace stencil {

/// What happened at this worker's edges, for logs and the summary. Monotonic.
struct EngineCounters {
  std::uint64_t sweeps = 0, offers = 0, answers = 0, merges = 0, declined = 0;
  std::uint64_t withdrawn = 0;       ///< offers that never arrived
  std::uint64_t lost_in_flight = 0;  ///< offers and replies lost with a dead neighbour
  std::uint64_t resent = 0;          ///< answers sent once more
  std::uint64_t resynchronised = 0;  ///< times an edge was synchronised anew
  std::uint64_t stale_frames = 0;    ///< of an epoch that is over
  std::uint64_t duplicates = 0;      ///< offers or replies seen before
  std::uint64_t gaps = 0;            ///< sequence numbers that jumped
  std::uint64_t refusals = 0;
  std::uint64_t suspected = 0, gone = 0, returned = 0;
  std::uint64_t shares = 0;           ///< buckets averaged in shared memory
  std::uint64_t shares_declined = 0;  ///< its owner has a request open on it, or takes no part
  std::uint64_t held = 0;             ///< times a bucket was found locked by another process
  std::uint64_t skipped = 0;          ///< buckets left out of a sweep for that
  std::uint64_t violations = 0;       ///< messages that no worker of this program sends; ignored
  std::uint64_t start_refused = 0;    ///< initial weights whose hash is not the one that was told
  std::uint64_t other_grids = 0;      ///< times that a neighbour's grid stayed another than ours
  std::uint64_t looked = 0;           ///< words of 64 buckets read to find the next to ask for
};

}  // namespace stencil
