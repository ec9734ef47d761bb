#include "stencil/core/topologies/kinds.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "stencil/core/error.h"
#include "stencil/core/random.h"
#include "tests/contract/topology/topology_contract.h"

namespace stencil::contract {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string case_name(const ::testing::TestParamInfo<TopologyCase>& info) {
  return info.param.name;
}

/// Each kind by its examples. Kinds that need a file have none.
std::vector<TopologyCase> kinds() {
  std::vector<TopologyCase> cases;
  for (const TopologyKind& kind : topology_kinds()) {
    if (kind.examples.empty()) continue;
    cases.push_back({std::string(kind.name), [kind] {
                       std::vector<Topology> made;
                       for (const auto spec : kind.examples) made.push_back(Topology::parse(spec));
                       return made;
                     }});
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Kinds, TopologyContract, ::testing::ValuesIn(kinds()), case_name);

/// Sides of one, two and more, even and odd, beyond the examples.
std::vector<Topology> further_shapes() {
  std::vector<Topology> made;
  for (const char* const spec :
       {"ring:4",          "ring:17",           "ring:25",         "torus:1x1",
        "torus:1x2",       "torus:1x5",         "torus:2x3",       "torus:3x3",
        "torus:5x4",       "torus:5x7",         "torus:2x2x2",     "torus:3x4x5",
        "torus:1x1:moore", "torus:2x2:moore",   "torus:3x3:moore", "torus:2x4:moore",
        "torus:4x6:moore", "torus:4x4x4:moore", "grid:1x1",        "grid:2x2",
        "grid:1x12",       "grid:2x3x4",        "grid:1x5:moore",  "grid:4x4:moore",
        "complete:7",      "complete:9"}) {
    made.push_back(Topology::parse(spec));
  }
  return made;
}

/// A tree with further edges, few or many. Equal for equal numbers of one run of the test.
Topology random_graph(std::uint64_t number) {
  const int seed = ::testing::UnitTest::GetInstance()->random_seed();
  Random random(Random::derive(static_cast<std::uint64_t>(seed), number));
  const auto size = 2 + random.below(40);
  std::string text;
  for (std::uint64_t rank = 1; rank < size; ++rank) {
    text += std::to_string(rank) + " " + std::to_string(random.below(rank)) + "\n";
  }
  for (std::uint64_t i = random.below(number % 2 == 0 ? size : 4 * size); i > 0; --i) {
    const auto a = random.below(size), b = random.below(size);
    if (a != b) text += std::to_string(a) + " " + std::to_string(b) + "\n";
  }
  return Topology::from_edges(
      text, "edges:random " + std::to_string(number) + " of seed " + std::to_string(seed));
}

std::vector<Topology> random_graphs() {
  std::vector<Topology> made;
  for (std::uint64_t number = 0; number < 60; ++number) made.push_back(random_graph(number));
  return made;
}

std::vector<Topology> known_graphs() {
  return {Topology::from_edges("0 1", "edges:pair"),
          Topology::from_edges("0 1\n0 2\n0 3\n0 4", "edges:star"),
          Topology::from_edges("0 1\n1 2\n0 3\n3 4", "edges:line"),
          Topology::from_edges("0 1\n1 2\n2 0\n2 3\n3 4", "edges:triangle with a tail")};
}

INSTANTIATE_TEST_SUITE_P(Graphs, TopologyContract,
                         ::testing::Values(TopologyCase{"further_shapes", further_shapes},
                                           TopologyCase{"edges", known_graphs},
                                           TopologyCase{"random_edges", random_graphs}),
                         case_name);

TEST(TopologyKinds, HaveExamplesWhereTheyNeedNoFile) {
  for (const TopologyKind& kind : topology_kinds()) {
    EXPECT_EQ(kind.examples.empty(), kind.form.ends_with("FILE"))
        << kind.name << ": without examples nothing here tries it";
  }
}

TEST(TopologyKinds, AreCalledInFormsAndExamplesByTheirNames) {
  for (const TopologyKind& kind : topology_kinds()) {
    const std::string name = std::string(kind.name) + ":";
    EXPECT_THAT(std::string(kind.form), StartsWith(name));
    EXPECT_FALSE(kind.meaning.empty());
    for (const auto spec : kind.examples) {
      EXPECT_THAT(std::string(spec), StartsWith(name));
      EXPECT_EQ(Topology::parse(spec).spec(), spec);
    }
  }
}

TEST(TopologyKinds, AreAllNamedWhereASpecIsOfNone) {
  try {
    (void)Topology::parse("mesh:4x4");
    FAIL() << "took it";
  } catch (const ConfigError& error) {
    for (const TopologyKind& kind : topology_kinds()) {
      EXPECT_THAT(error.what(), HasSubstr(std::string(kind.form)));
    }
  }
}

}  // namespace
}  // namespace stencil::contract
