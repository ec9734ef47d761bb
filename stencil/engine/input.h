#pragma once

#include <cstdint>
#include <span>
#include <variant>

#include "stencil/core/message.h"
#include "stencil/engine/action.h"
#include "stencil/engine/config.h"
#include "stencil/engine/offer_exchange.h"
#include "stencil/neighbour/neighbours.h"

namespace stencil {

class Engine;

/// What an engine is told, one struct for each function of Engine that changes it. Values.
namespace input {

struct Added {
  Place place;
};
struct Retired {
  Rank rank;
};
struct Parted {
  Rank rank;
};
struct Removed {
  Rank rank;
};
struct LinkUp {
  Rank rank;
};
struct LinkDown {
  Rank rank;
};
struct Heard {
  Rank rank;
  Message message;
};
struct Made {
  std::uint32_t from;
};
struct Boundary {
  std::uint64_t step;
};
struct Paused {
  Pause pause;
};
struct Published {
  std::uint64_t round;
};
struct Wanted {
  WorkerState state;
};
struct Progress {
  double steps;
};
struct GaveUpJoining {};
struct Tick {};
struct Sharing {
  Rank rank;
  bool shared;
};
struct TookShares {};
struct Shared {
  Rank rank;
  std::uint32_t bucket;
  ShareResult result;
};
struct OfferMade {
  Rank rank;
  std::uint64_t sequence;
  MadeOffer made;
};
struct Answered {
  Rank rank;
  Reply reply;
};
/// A message was stamped outside the engine's inputs; kNoRank: for no neighbour.
struct Stamped {
  Rank rank;
};

struct FirstBatch {
  std::uint64_t hash;
};
struct GridChanged {
  GridFigures grid;
};
struct StartHashed {
  Rank rank;
  std::uint64_t hash;
};

}  // namespace input

/// The index of an input in this list is its kind in a journal.
using Input =
    std::variant<input::Added, input::Retired, input::Parted, input::Removed, input::LinkUp,
                 input::LinkDown, input::Heard, input::Made, input::Boundary, input::Paused,
                 input::Published, input::Wanted, input::Progress, input::GaveUpJoining,
                 input::Tick, input::Sharing, input::TookShares, input::Shared, input::OfferMade,
                 input::Answered, input::Stamped, input::FirstBatch, input::GridChanged,
                 input::StartHashed>;

/// Sees each input of an engine and what the engine decided. Given the same start and the same
/// inputs, an engine decides the same.
class Witness {
 public:
  virtual ~Witness() = default;
  /// `engine`, which was made at `now`, will be seen. It is as it was made.
  virtual void began(TimePoint now, const Engine& engine) = 0;
  /// The engine has dealt with `input`.
  /// `now`: of this input, or of the one before where it has no time of its own.
  virtual void saw(TimePoint now, const Input& input, std::span<const Action> decided) = 0;
};

}  // namespace stencil
