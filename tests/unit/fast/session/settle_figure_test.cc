#include "fast/session/settle_figure.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <mutex>
#include <utility>
#include <vector>

namespace fast {
namespace {

using stencil::Grid;
using stencil::Topology;

constexpr stencil::Duration kPatience = std::chrono::minutes(5);  // not to be reached

Grid changed(int more) {
  Grid grid(Topology::parse("ring:8"));
  for (int rank = 8; rank < 8 + more; ++rank) grid.add(rank, std::vector<stencil::Rank>{0, 4});
  return grid;
}

TEST(SettleFigure, IsThatOfTheGrid) {
  std::vector<double> found;
  SettleFigure figure(1e-3, [&](double threshold) { found.push_back(threshold); });
  EXPECT_TRUE(figure.wait(kPatience)) << "there is nothing to wait for";
  figure.follow(changed(1));
  ASSERT_TRUE(figure.wait(kPatience));
  EXPECT_EQ(found, std::vector{changed(1).settle_threshold(1e-3)});
}

TEST(SettleFigure, OfGridsThatChangeMeanwhileTheNewestIsFoundAndNobodyWaits) {
  std::mutex mutex;
  std::vector<double> found;
  std::promise<void> begun, go_on;
  auto may = go_on.get_future().share();
  SettleFigure figure(1e-3, [&, first = true](double threshold) mutable {
    {
      const std::lock_guard lock(mutex);
      found.push_back(threshold);
    }
    if (!std::exchange(first, false)) return;
    begun.set_value();
    may.wait();
  });
  figure.follow(changed(1));
  begun.get_future().wait();
  for (const int more : {2, 3, 4}) figure.follow(changed(more));  // while it stands still
  EXPECT_FALSE(figure.wait(stencil::Duration{}));
  go_on.set_value();
  ASSERT_TRUE(figure.wait(kPatience));
  const std::lock_guard lock(mutex);
  EXPECT_EQ(found,
            (std::vector{changed(1).settle_threshold(1e-3), changed(4).settle_threshold(1e-3)}));
}

}  // namespace
}  // namespace fast
