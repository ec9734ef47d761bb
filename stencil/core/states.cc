#include "stencil/core/states.h"

namespace stencil {

std::string_view name(WorkerState state) {
  switch (state) {
    case WorkerState::kJoining:
      return "joining";
    case WorkerState::kTraining:
      return "training";
    case WorkerState::kSettling:
      return "settling";
    case WorkerState::kSettled:
      return "settled";
    case WorkerState::kFrozen:
      return "frozen";
  }
  return "?";
}

std::string_view name(LinkState state) {
  switch (state) {
    case LinkState::kConnecting:
      return "connecting";
    case LinkState::kUp:
      return "up";
    case LinkState::kSuspect:
      return "suspect";
    case LinkState::kGone:
      return "gone";
    case LinkState::kLeft:
      return "left";
    case LinkState::kRefused:
      return "refused";
  }
  return "?";
}

}  // namespace stencil
