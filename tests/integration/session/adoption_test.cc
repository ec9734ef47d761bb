// A worker that trained alone meets one that has hardly begun.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>

#include "fast/checkpoint/saved_state.h"
#include "tests/integration/session/session_fixture.h"

namespace fast {
namespace {

class AdoptionTest : public SessionTest {
 protected:
  AdoptionTest() : peers_(::testing::TempDir() + "fast_adoption_" + std::to_string(::getpid())) {}
  ~AdoptionTest() override { std::remove(peers_.c_str()); }

  /// Nobody knows where the other is before let_meet().
  [[nodiscard]] SessionOptions apart(int rank) const {
    SessionOptions some = options("ring:2", rank);
    some.peer_template.clear();
    some.peers_file = peers_;
    some.exchange.start_deadline = 0.05;
    return some;
  }
  void let_meet() const { std::ofstream(peers_) << "0 inproc://worker-0\n1 inproc://worker-1\n"; }

 private:
  std::string peers_;
};

/// Counts how often the model was replaced.
struct Watcher final : Resumable {
  void save(StateWriter& /*to*/) override {}
  void load(const StateReader& /*from*/) override {}
  void model_replaced() override { ++replaced; }
  int replaced = 0;
};

TEST_F(AdoptionTest, TheTrainedModelShowsNoJumpAndTheOtherTakesItOver) {
  Quadratic trained(0), late(0);  // of one objective: only averaging could move the trained one
  Watcher watcher;
  late.adapter.attach(watcher);
  Session first(trained.adapter, apart(0)), second(late.adapter, apart(1));
  first.join();
  for (int i = 0; i < 300; ++i) {
    trained.step();
    first.exchange({.samples = 1, .loss = 0});
  }
  ASSERT_LT(distance(trained.x, trained.target), 1e-6F);
  second.join();
  late.step();
  second.exchange({.samples = 1, .loss = 0});
  const float behind = distance(late.x, late.target);
  ASSERT_GT(behind, 0.1F);

  let_meet();
  float worst = 0;
  const auto train_on = [&] {
    trained.step();
    first.exchange({.samples = 1, .loss = 0});
    worst = std::max(worst, distance(trained.x, trained.target));
  };
  // Its background thread copies the model while its own step takes long.
  while (!second.joined_from()) train_on();
  second.exchange({.samples = 1, .loss = 0});
  for (int i = 0; i < 100; ++i) train_on();
  EXPECT_EQ(watcher.replaced, 1);
  EXPECT_EQ(second.joined_from(), 0);
  EXPECT_LT(distance(late.x, late.target), 1e-3F * behind);
  EXPECT_LT(worst, 1e-3F * behind);
  late.adapter.detach(watcher);
}

}  // namespace
}  // namespace fast
