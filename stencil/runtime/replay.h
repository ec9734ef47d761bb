#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "stencil/core/error.h"
#include "stencil/engine/input.h"

namespace stencil {

/// One input of a journal, played again.
struct Replayed {
  std::uint64_t number = 0;  ///< from 1
  Duration at{};             ///< since the engine was made
  const Input& input;
  std::span<const Action> decided;  ///< now
  bool same = true;                 ///< as when it was recorded
};

/// What a journal held.
struct Replay {
  Rank rank = kNoRank;  ///< of the worker that was recorded
  std::uint64_t inputs = 0;
  /// The input on which the engine decides otherwise now; 0: none. It is the last one played:
  /// what followed was seen by an engine in another state.
  std::uint64_t other = 0;
  /// The invariant that failed on the last input, which ended the worker; empty: none.
  std::string failure{};
  bool cut = false;  ///< its last record is incomplete, and left out
};

/// Makes the engine that a Journal recorded and gives it the same inputs, at the same times. `told`
/// hears of each. It ends where the engine decides otherwise, or an invariant of it fails. An Error
/// where the bytes are no journal, or no engine can have had such inputs.
[[nodiscard]] Result<Replay> replay(std::span<const std::byte> journal,
                                    const std::function<void(const Replayed&)>& told);

/// The neighbour that an input or an action is about; kNoRank where it is about the worker itself.
[[nodiscard]] Rank edge_of(const Input& input);
[[nodiscard]] Rank edge_of(const Action& action);
/// A line without its neighbour: "hears offer 7 of bucket 2", "answers bucket 2 with 1/2".
[[nodiscard]] std::string in_words(const Input& input);
[[nodiscard]] std::string in_words(const Action& action);

}  // namespace stencil
