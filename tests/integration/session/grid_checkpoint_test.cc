// Whoever resumes from a checkpoint stands on the grid that it was saved on.
#include <gmock/gmock.h>

#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "fast/errors.h"
#include "stencil/core/grid.h"
#include "tests/integration/session/session_fixture.h"
#include "tests/support/cifar_files.h"

namespace fast {
namespace {

using ::testing::HasSubstr;

class GridCheckpoint : public SessionTest {
 protected:
  /// Worker 0 of ring:3, which saves on a grid that rank 2 has left and rank 3 has come to, as its
  /// neighbour and that of rank 1.
  void save_changed() {
    Session session(adapter_, options("ring:3", 0));
    session.remove(2);
    session.add(3, {0, 1}, "inproc://elsewhere");
    session.save_checkpoint(file_);
  }
  [[nodiscard]] static stencil::Grid changed(const std::vector<int>& neighbours) {
    stencil::Grid grid(stencil::Topology::parse("ring:3"));
    grid.remove(2);
    grid.add(3, neighbours);
    return grid;
  }
  [[nodiscard]] SessionOptions resumed() const {
    SessionOptions some = options("ring:3", 0);
    some.resume = file_;
    return some;
  }
  [[nodiscard]] static std::vector<int> neighbours(const Session& session) {
    std::vector<int> ranks;
    for (const NeighbourStatus& one : session.status().neighbours) ranks.push_back(one.rank);
    return ranks;
  }

  testing::TemporaryFolder folder_;
  std::string file_ = (folder_.path() / "checkpoint").string();
  std::vector<float> x_ = std::vector<float>(kSize);
  FlatAdapter adapter_{x_};
};

TEST_F(GridCheckpoint, changes_are_made_again_and_who_came_is_found_where_it_was) {
  save_changed();
  Session session(adapter_, resumed());
  EXPECT_EQ(session.size(), 3);

  stencil::Grid grid = changed({0, 1});
  grid.remove(1);  // which nobody plays here
  session.remove(1);
  std::vector<float> x(kSize);
  FlatAdapter adapter(x);
  SessionOptions late = options("ring:3", 3);
  late.listen = "inproc://elsewhere";
  late.peer_template.clear();  // it knows nobody's address: rank 0 must come to it
  Session other(adapter, late, grid);
  std::jthread coming([&] { other.join(); });
  session.join();
  coming.join();
  EXPECT_EQ(neighbours(session), std::vector{3});
  EXPECT_EQ(neighbours(other), std::vector{0});
}

TEST_F(GridCheckpoint, a_grid_that_was_given_may_have_changed_on_but_not_otherwise) {
  save_changed();
  EXPECT_EQ(Session(adapter_, resumed(), changed({0, 1})).size(), 3) << "as it was saved";
  stencil::Grid on = changed({0, 1});
  on.add(4, std::vector<int>{3});
  EXPECT_EQ(Session(adapter_, resumed(), on).size(), 4);
  try {
    const Session session(adapter_, resumed(), changed({0}));
    FAIL() << "nothing was refused";
  } catch (const FileError& error) {
    EXPECT_THAT(error.what(), HasSubstr("is of another grid"));
  }
}

TEST_F(GridCheckpoint, one_saved_before_any_change_resumes_on_a_grid_that_has_changed) {
  Session(adapter_, options("ring:3", 0)).save_checkpoint(file_);
  EXPECT_EQ(Session(adapter_, resumed()).size(), 3);
  stencil::Grid smaller(stencil::Topology::parse("ring:3"));
  smaller.remove(2);
  EXPECT_EQ(Session(adapter_, resumed(), smaller).size(), 2);
}

}  // namespace
}  // namespace fast
