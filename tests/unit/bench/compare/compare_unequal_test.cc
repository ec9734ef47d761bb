// Workers that stand still, die or are a hundred times slower, under the virtual clock.
#include <gtest/gtest.h>

#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "bench/compare/split.h"
#include "bench/compare/virtual/virtual_run.h"
#include "tests/support/virtual_cell.h"

namespace fast::compare {
namespace {

struct Unequal {
  const char* name;
  std::string topology;
  std::map<int, double> slow{};
  std::vector<Absence> away{};
};
void PrintTo(const Unequal& one, std::ostream* out) {
  *out << one.name;
}

/// Workers that stand still in the warm-up brought all of them down to chance (9.96 % and not 67),
/// and slow ones took ten points.
class VeryUnequal : public ::testing::TestWithParam<Unequal> {};
INSTANTIATE_TEST_SUITE_P(
    Workers, VeryUnequal,
    ::testing::Values(
        Unequal{.name = "frozen",
                .topology = "ring:4",
                .away = {{Absence::Kind::kFrozen, 1, 0.5, 6}, {Absence::Kind::kFrozen, 3, 0.2, 4}}},
        Unequal{.name = "dead",
                .topology = "ring:4",
                .away = {{Absence::Kind::kDead, 1, 0.5, 6}, {Absence::Kind::kDead, 3, 0.2, 4}}},
        Unequal{.name = "slow", .topology = "ring:4", .slow = {{1, 200}, {3, 100}}}),
    [](const auto& info) { return info.param.name; });

TEST_P(VeryUnequal, momentum_that_follows_tears_nothing_apart) {
  Cell cell = virtual_cell("mlp", "synthetic:4352,256", 256);
  cell.condition.topology = GetParam().topology;
  cell.condition.slow = GetParam().slow;
  cell.condition.away = GetParam().away;
  cell.condition.jitter = 0.1;
  cell.strategy = usual_strategy("stencil-async");
  cell.strategy.learning_rate = 0.1;
  choose_sweeps(cell.strategy, cell.condition.topology);
  const Split split = load_split(cell, {});
  const double corrected = *run_virtually(cell, split, {}).mean_model;
  cell.strategy.momentum_correction = 0;
  const double plain = *run_virtually(cell, split, {}).mean_model;
  std::cout << plain << " right without the correction, " << corrected << " with it\n";
  EXPECT_GT(plain, 0.45);
  EXPECT_GT(corrected, 0.85 * plain);
}

}  // namespace
}  // namespace fast::compare
