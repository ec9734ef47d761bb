#include "stencil/engine/same_grid.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/engine_pair.h"

namespace stencil {
namespace {

using test::EnginePair;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SameGridTest : public testing::Test {
 protected:
  SameGridTest() { pair_.meet(); }

  /// The grid of `rank` becomes another.
  void change(Rank rank, std::uint64_t hash) {
    GridFigures figures = pair_.pump(rank).engine().config().grid;
    ++figures.version;
    figures.hash = hash;
    pair_.pump(rank).follow(pair_.now, figures);
  }
  [[nodiscard]] std::uint64_t counted(Rank rank) { return pair_.counters(rank).other_grids; }
  [[nodiscard]] bool shown(Rank rank) {
    return pair_.pump(rank).status().neighbours.at(0).other_grid;
  }
  /// A while in which a difference is borne, and some more.
  void pass_patience() { pair_.pass(in_seconds(SameGrid::kPatience) + 2); }
  static double in_seconds(Duration time) { return std::chrono::duration<double>(time).count(); }

  EnginePair pair_;
};

TEST_F(SameGridTest, a_grid_that_has_not_changed_is_not_told_of) {
  pass_patience();
  for (const Rank rank : {0, 1}) {
    EXPECT_EQ(pair_.edge(rank).report.grid, 0U);
    EXPECT_EQ(counted(rank), 0U);
  }
}

TEST_F(SameGridTest, both_ends_count_a_difference_that_lasts_and_tell_of_it_once) {
  change(0, 77);
  pair_.pass(in_seconds(SameGrid::kPatience) / 2);
  EXPECT_EQ(pair_.edge(1).report.grid, 77U);
  EXPECT_NE(pair_.edge(0).report.grid, 0U) << "whoever has not changed tells of its own grid, too";
  for (const Rank rank : {0, 1}) {
    EXPECT_EQ(counted(rank), 0U) << "the other may be about to make the change";
    EXPECT_FALSE(shown(rank));
  }
  pass_patience();
  pass_patience();
  for (const Rank rank : {0, 1}) {
    EXPECT_EQ(counted(rank), 1U);
    EXPECT_TRUE(shown(rank));
    ASSERT_EQ(pair_.log(rank).size(), 1U);
    EXPECT_THAT(pair_.log(rank).front(), HasSubstr("its grid is another than this worker's"));
  }
}

TEST_F(SameGridTest, a_change_that_comes_later_at_the_other_end_is_no_difference) {
  change(0, 77);
  pair_.pass(in_seconds(SameGrid::kPatience) / 2);
  change(1, 77);
  pass_patience();
  for (const Rank rank : {0, 1}) {
    EXPECT_EQ(counted(rank), 0U);
    EXPECT_THAT(pair_.log(rank), IsEmpty());
  }
}

TEST_F(SameGridTest, a_difference_that_is_over_is_shown_no_more_and_counts_again) {
  change(0, 77);
  pass_patience();
  change(1, 77);
  pair_.pass(2);
  for (const Rank rank : {0, 1}) EXPECT_FALSE(shown(rank));
  change(1, 78);
  pass_patience();
  for (const Rank rank : {0, 1}) EXPECT_EQ(counted(rank), 2U);
}

TEST_F(SameGridTest, a_neighbour_that_knows_of_no_such_thing_is_not_told_of) {
  change(0, 77);
  change(1, 0);  // as one of a version before: it tells of nothing
  pass_patience();
  EXPECT_EQ(counted(0), 0U);
}

}  // namespace
}  // namespace stencil
