#include "stencil/core/turns.h"

#include <gtest/gtest.h>

#include <utility>

namespace stencil {
namespace {

std::size_t turns_of(const char* spec) {
  return Turns(Topology::parse(spec)).count();
}

TEST(Turns, take_as_many_as_a_worker_has_neighbours_where_the_grid_is_bipartite) {
  for (const auto& [spec, degree] : {std::pair{"ring:1", 0U},
                                     {"ring:2", 1U},
                                     {"ring:8", 2U},
                                     {"torus:2x4", 3U},
                                     {"torus:4x4", 4U},
                                     {"torus:6x10", 4U},
                                     {"torus:2x2x2", 3U},
                                     {"torus:4x4x4", 6U},
                                     {"grid:3x3", 4U},
                                     {"grid:5x7", 4U},
                                     {"grid:3x4x5", 6U}}) {
    EXPECT_EQ(turns_of(spec), degree) << spec;
  }
}

TEST(Turns, take_few_more_elsewhere) {
  for (const auto& [spec, degree] : {std::pair{"ring:3", 2U},
                                     {"ring:9", 2U},
                                     {"torus:3x3", 4U},
                                     {"torus:5x7", 4U},
                                     {"torus:3x3x3", 6U},
                                     {"complete:4", 3U},
                                     {"complete:9", 8U},
                                     {"complete:32", 31U},
                                     {"torus:5x5:moore", 8U},
                                     {"grid:4x4:moore", 8U}}) {
    EXPECT_LE(turns_of(spec), degree + 4) << spec;
  }
}

}  // namespace
}  // namespace stencil
