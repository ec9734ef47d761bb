#pragma once

#include <map>
#include <string>
#include <vector>

#include "stencil/core/place.h"
#include "stencil/engine/config.h"

namespace fast {

/// What one change of the grid is to one worker. Value type.
struct GridChange {
  std::vector<stencil::Rank> gone{};     ///< its neighbours no longer
  std::vector<stencil::Place> come{};    ///< its neighbours from now on
  std::vector<stencil::Place> places{};  ///< all its neighbours now
  std::map<int, std::string> listen{};   ///< endpoints; "": where the options say
  stencil::GridFigures figures{};
};

}  // namespace fast
