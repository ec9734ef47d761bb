#include <algorithm>
#include <utility>

#include "fast/errors.h"
#include "fast/session/session_impl.h"
#include "stencil/runtime/engine_config.h"

namespace fast {

using stencil::Place;

void Session::Impl::add(int rank, const std::vector<int>& neighbours, const std::string& listen) {
  change_grid([&](stencil::Grid& grid) { grid.add(rank, neighbours); }, {{rank, listen}});
}

void Session::Impl::remove(int rank) {
  change_grid([&](stencil::Grid& grid) { grid.remove(rank); }, {});
}

template <typename Make>
void Session::Impl::change_grid(Make make, std::map<int, std::string> listen) {
  if (sync()) {
    throw ConfigError("in mode sync the grid stays as it is: rounds go with all of the start",
                      "use mode async or bounded:K");
  }
  if (agreement_) {
    throw OrderError("the session is finished: it averages with nobody any more",
                     "change the grid before finish()");
  }
  background_.rethrow_failure();
  const std::vector<Place> before = grid_.places(options_.rank);
  make(grid_);
  const auto names = [](const std::vector<Place>& places, const Place& one) {
    return std::ranges::find(places, one.rank, &Place::rank) != places.end();
  };
  for (const auto& [who, endpoint] : listen) record_.listen[who] = endpoint;
  GridChange change{.places = grid_.places(options_.rank),
                    .listen = std::move(listen),
                    .figures = figures_of(grid_, options_.exchange)};
  for (const Place& place : before) {
    if (!names(change.places, place)) change.gone.push_back(place.rank);
  }
  for (const Place& place : change.places) {
    if (!names(before, place)) change.come.push_back(place);
  }
  means_.follow(grid_.size());
  progress_.follow(grid_.size());
  background_.change(std::move(change));
  settle_figure_.follow(grid_);
}

}  // namespace fast
