#include "stencil/core/topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "stencil/core/error.h"
#include "stencil/core/random.h"

namespace stencil {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

std::string error_of(const std::string& spec) {
  try {
    (void)Topology::parse(spec);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

std::string edges_error_of(std::string_view text) {
  try {
    (void)Topology::from_edges(text, "edges:test");
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

struct Shape {
  std::string spec;
  int size;
  std::size_t min_degree;
  std::size_t max_degree;
};

TEST(Topology, CopiesShareOneGraph) {
  const Topology all = Topology::parse("torus:8x8");
  const Topology copy = all;  // NOLINT: the copy is what is tested
  EXPECT_EQ(copy.neighbours(9).data(), all.neighbours(9).data());
  EXPECT_EQ(copy.spec(), all.spec());
}

TEST(Topology, KnownShapesHaveTheirSizesAndDegrees) {
  const Shape shapes[] = {Shape{"ring:1", 1, 0, 0},
                          Shape{"ring:2", 2, 1, 1},
                          Shape{"ring:3", 3, 2, 2},
                          Shape{"ring:17", 17, 2, 2},
                          Shape{"torus:1x1", 1, 0, 0},
                          Shape{"torus:1x2", 2, 1, 1},
                          Shape{"torus:1x5", 5, 2, 2},
                          Shape{"torus:2x2", 4, 2, 2},
                          Shape{"torus:2x3", 6, 3, 3},
                          Shape{"torus:3x3", 9, 4, 4},
                          Shape{"torus:5x4", 20, 4, 4},
                          Shape{"torus:4x4", 16, 4, 4},
                          Shape{"torus:2x2x2", 8, 3, 3},
                          Shape{"torus:3x4x5", 60, 6, 6},
                          Shape{"torus:2x2:moore", 4, 3, 3},
                          Shape{"torus:3x3:moore", 9, 8, 8},
                          Shape{"torus:2x4:moore", 8, 5, 5},
                          Shape{"torus:4x5:moore", 20, 8, 8},
                          Shape{"torus:4x4x4:moore", 64, 26, 26},
                          Shape{"torus:1x1:moore", 1, 0, 0},
                          Shape{"grid:1x1", 1, 0, 0},
                          Shape{"grid:1x4", 4, 1, 2},
                          Shape{"grid:2x2", 4, 2, 2},
                          Shape{"grid:3x5", 15, 2, 4},
                          Shape{"grid:2x3x4", 24, 3, 5},
                          Shape{"grid:3x3:moore", 9, 3, 8},
                          Shape{"grid:1x5:moore", 5, 1, 2},
                          Shape{"complete:1", 1, 0, 0},
                          Shape{"complete:2", 2, 1, 1},
                          Shape{"complete:9", 9, 8, 8}};
  for (const Shape& shape : shapes) {
    SCOPED_TRACE(shape.spec);
    const auto topology = Topology::parse(shape.spec);
    ASSERT_EQ(topology.size(), shape.size);
    std::size_t least = topology.neighbours(0).size(), most = least;
    for (Rank rank = 1; rank < topology.size(); ++rank) {
      const std::size_t degree = topology.neighbours(rank).size();
      least = std::min(least, degree);
      most = std::max(most, degree);
    }
    EXPECT_EQ(least, shape.min_degree);
    EXPECT_EQ(most, shape.max_degree);
  }
}

TEST(Topology, TorusJoinsEachWorkerToItsFourNeighbours) {
  const auto torus = Topology::parse("torus:3x4");
  EXPECT_THAT(torus.shape(), ElementsAre(3, 4));
  EXPECT_THAT(torus.neighbours(0), ElementsAre(1, 3, 4, 8));
  EXPECT_THAT(torus.coordinates(7), ElementsAre(1, 3));
  EXPECT_EQ(torus.direction(0, 1), "+x");
  EXPECT_EQ(torus.direction(0, 3), "-x");
  EXPECT_EQ(torus.direction(0, 4), "+y");
  EXPECT_EQ(torus.direction(0, 8), "-y");
}

TEST(Topology, MooreNeighboursLieAcrossCorners) {
  const auto torus = Topology::parse("torus:4x4:moore");
  EXPECT_EQ(torus.direction(5, 10), "+x+y");
  EXPECT_EQ(torus.direction(5, 2), "+x-y");
  EXPECT_EQ(torus.direction(0, 15), "-x-y");
}

TEST(Topology, ASideOfTwoHasOneNeighbourInEachWay) {
  const auto torus = Topology::parse("torus:2x2");
  EXPECT_EQ(torus.direction(0, 1), "+x");
  EXPECT_EQ(torus.direction(1, 0), "-x");
  EXPECT_EQ(Topology::parse("ring:2").direction(1, 0), "-x");
}

TEST(Topology, GridHasOpenBorders) {
  const auto grid = Topology::parse("grid:3x3");
  EXPECT_THAT(grid.neighbours(0), ElementsAre(1, 3));
  EXPECT_FALSE(grid.are_neighbours(0, 2));
}

TEST(Topology, CompleteAndEdgesHaveNoDirections) {
  EXPECT_EQ(Topology::parse("complete:3").direction(0, 2), "");
  EXPECT_EQ(Topology::from_edges("0 1", "edges:x").direction(0, 1), "");
}

TEST(Topology, AsksForADirectionOnlyAlongAnEdge) {
  const auto torus = Topology::parse("torus:4x4");
  EXPECT_THROW((void)torus.direction(0, 5), InvariantError);
  EXPECT_THROW((void)torus.direction(-1, 0), InvariantError);
  EXPECT_THROW((void)torus.direction(0, 99), InvariantError);
  EXPECT_FALSE(torus.are_neighbours(99, 0));
}

TEST(Topology, RefusesOtherSpecsNamingThemAndTheValidForms) {
  const std::vector<std::string> bad = {"",
                                        "torus",
                                        "torus:",
                                        "torus:4",
                                        "torus:4x",
                                        "torus:x4",
                                        "torus:0x4",
                                        "torus:-1x4",
                                        "torus:+1x4",
                                        "torus:04x4",
                                        "torus:4x4 ",
                                        "torus:4x4x4x4",
                                        "torus:4x4:moor",
                                        "torus:4x4:",
                                        "torus:4X4",
                                        "ring:0",
                                        "ring:",
                                        "ring:4x4",
                                        "ring:4:moore",
                                        "ring:99999999999999",
                                        "mesh:4x4",
                                        "Torus:4x4",
                                        "torus:1024x1025",
                                        "complete:0",
                                        "complete:1.5",
                                        "grid:4",
                                        "ring:1048577",
                                        "torus:2097152x1",
                                        "complete:100000",
                                        "complete:4:moore",
                                        "edges:",
                                        ":",
                                        "torus:4x4:moore:",
                                        "ring: 4"};
  for (const auto& spec : bad) {
    EXPECT_THAT(error_of(spec), HasSubstr("'" + spec + "'")) << spec;
    EXPECT_THAT(error_of(spec), HasSubstr("torus:AxB[xC]")) << spec;
  }
}

TEST(Topology, TakesTheLargestSizeAllowed) {
  EXPECT_EQ(Topology::parse("torus:1024x1024").size(), Topology::kMaxSize);
}

TEST(Edges, AreReadWithCommentsBlanksAndEitherLineEnd) {
  const auto topology =
      Topology::from_edges("\xEF\xBB\xBF# a star\r\n0 1\r\n\n\t2   0 # two\r\n3\t0", "edges:star");
  EXPECT_EQ(topology.size(), 4);
  EXPECT_EQ(topology.spec(), "edges:star");
  EXPECT_THAT(topology.edges(), ElementsAre(Pair(0, 1), Pair(0, 2), Pair(0, 3)));
}

TEST(Edges, WrittenInBothDirectionsOrTwiceCountOnce) {
  const auto topology = Topology::from_edges("0 1\n1 0\n0 1\n", "edges:twice");
  EXPECT_THAT(topology.edges(), ElementsAre(Pair(0, 1)));
}

TEST(Edges, AreRefusedWithTheNumberOfTheLine) {
  EXPECT_THAT(edges_error_of("0 1\n2\n"), HasSubstr("line 2: only one rank, '2'"));
  EXPECT_THAT(edges_error_of("0 1\n\n1 2 3"), HasSubstr("line 3: '3' follows"));
  EXPECT_THAT(edges_error_of("0 one"), HasSubstr("line 1: 'one' is not a rank"));
  EXPECT_THAT(edges_error_of("0 -1"), HasSubstr("'-1' is not a rank"));
  EXPECT_THAT(edges_error_of("# x\n3 3"), HasSubstr("line 2: rank 3 cannot neighbour itself"));
  EXPECT_THAT(edges_error_of("0 1048576"), HasSubstr("over the highest allowed, 1048575"));
  EXPECT_THAT(edges_error_of("0 99999999999999999999999"), HasSubstr("over the highest"));
  EXPECT_THAT(edges_error_of(std::string_view("0 \0 1", 5)), HasSubstr("line 1"));
}

TEST(Edges, AreRefusedWhenEmptyOrDisconnected) {
  EXPECT_THAT(edges_error_of(""), HasSubstr("no edges"));
  EXPECT_THAT(edges_error_of("# nothing\n"), HasSubstr("no edges"));
  EXPECT_THAT(edges_error_of("0 1\n2 3\n"), HasSubstr("no path joins ranks 0 and 2"));
  EXPECT_THAT(edges_error_of("0 1048575"), HasSubstr("rank 1 of 0..1048575 has no edge"));
  EXPECT_THAT(edges_error_of("1 2"), HasSubstr("rank 0 of 0..2 has no edge"));
}

TEST(Edges, ShowForeignBytesOnlyMadePrintableAndShort) {
  const auto text = edges_error_of("0 \x1b[31m" + std::string(10'000, 'z'));
  EXPECT_LT(text.size(), 400u);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(Edges, OfAnyGeneratedGraphComeBackAsWritten) {
  const auto seed = static_cast<std::uint64_t>(::testing::UnitTest::GetInstance()->random_seed());
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  for (int round = 0; round < 50; ++round) {
    const Rank size = 2 + static_cast<Rank>(random.below(30));
    std::vector<std::pair<Rank, Rank>> edges;
    for (Rank rank = 1; rank < size; ++rank) {
      edges.emplace_back(static_cast<Rank>(random.below(static_cast<std::uint64_t>(rank))), rank);
    }
    std::string text;
    for (const auto& [a, b] : edges) text += std::to_string(b) + " " + std::to_string(a) + "\n";
    std::sort(edges.begin(), edges.end());
    const auto topology = Topology::from_edges(text, "edges:generated");
    EXPECT_EQ(topology.size(), size);
    EXPECT_EQ(topology.edges(), edges);
  }
}

TEST(Edges, ComeFromAFile) {
  const std::string path = ::testing::TempDir() + "fast_topology_test_edges.txt";
  std::ofstream(path) << "0 1\n1 2\n";
  EXPECT_THAT(Topology::parse("edges:" + path).edges(), ElementsAre(Pair(0, 1), Pair(1, 2)));
  std::remove(path.c_str());
}

TEST(Edges, NameAFileThatCannotBeRead) {
  EXPECT_THAT(error_of("edges:/nonexistent/file"), HasSubstr("'/nonexistent/file'"));
  EXPECT_THAT(error_of("edges:" + ::testing::TempDir()), HasSubstr("edges:"));
}

TEST(Topology, ReachIsTheDiameterOrMore) {
  const auto reach = [](const char* spec) { return Topology::parse(spec).reach(); };
  EXPECT_EQ(reach("ring:1"), 0);
  EXPECT_EQ(reach("ring:12"), 6);
  EXPECT_EQ(reach("ring:13"), 6);
  EXPECT_EQ(reach("torus:4x4"), 4);
  EXPECT_EQ(reach("torus:4x4:moore"), 2);
  EXPECT_EQ(reach("grid:4x4"), 6);
  EXPECT_EQ(reach("grid:3x4:moore"), 3);
  EXPECT_EQ(reach("complete:7"), 1);
  // From rank 0, in the middle, two hops reach all; from end to end it takes four.
  EXPECT_EQ(Topology::from_edges("0 1\n1 2\n0 3\n3 4\n", "line").reach(), 4);
}

}  // namespace
}  // namespace stencil
