// A session that leaves for a while, and its neighbour.
#include <atomic>
#include <filesystem>
#include <optional>

#include "fast/session/exit_code.h"
#include "tests/integration/session/session_fixture.h"
#include "tests/support/cifar_files.h"

namespace fast {
namespace {

class SessionPauseTest : public SessionTest {
 protected:
  [[nodiscard]] SessionOptions of(int rank) const {
    SessionOptions o = options("ring:2", rank, "bounded:2");
    o.checkpoint = o.resume = (folder_.path() / "{rank}.safetensors").string();
    o.exchange.share_memory = "never";
    return o;
  }
  /// Makes steps until the neighbour's link fulfils `condition`.
  template <typename Condition>
  static void step_until(Session& session, Quadratic& model, Condition condition) {
    do {
      model.step();
      session.exchange({.samples = 1});
    } while (!condition(session.status().neighbours.at(0)));
  }

  testing::TemporaryFolder folder_;
};

TEST_F(SessionPauseTest, is_saved_waited_for_by_nobody_and_goes_on_from_there) {
  std::atomic<bool> pause = false, paused = false, back = false;
  std::uint64_t steps = 0;
  in_threads(2, [&](int rank) {
    Quadratic model(rank);
    SessionOptions o = of(rank);
    if (rank == 0) {
      Session session(model.adapter, o);
      step_until(session, model, [](const NeighbourStatus& n) { return n.sweeps > 0; });
      pause = true;
      step_until(session, model, [](const NeighbourStatus& n) { return n.paused; });
      EXPECT_EQ(session.status().neighbours.at(0).link, LinkState::kLeft);
      paused = true;
      // More than the bound.
      for (int i = 0; i < 10; ++i) step_until(session, model, [](const auto&) { return true; });
      step_until(session, model,
                 [&](const NeighbourStatus& n) { return n.link == LinkState::kUp && back; });
      EXPECT_FALSE(session.status().neighbours.at(0).paused);
      return;
    }
    o.pause = &pause;
    {
      Session session(model.adapter, o);
      step_until(session, model, [&](const NeighbourStatus&) { return pause.load(); });
      EXPECT_EQ(session.finish(), Agreement::kPaused);
      EXPECT_EQ(exit_code(Agreement::kPaused), ExitCode::kInterrupted);
      steps = session.steps();
    }
    pause = false;
    while (!paused) std::this_thread::yield();
    Quadratic again(rank);
    Session session(again.adapter, o);
    EXPECT_EQ(session.steps(), steps);
    session.join();
    EXPECT_LT(distance(again.x, model.x), 1);
    back = true;
    step_until(session, again, [](const NeighbourStatus& n) { return n.link != LinkState::kUp; });
  });
}

TEST_F(SessionPauseTest, a_stop_comes_before_a_pause) {
  const std::atomic<bool> pause = true, stop = true;
  Quadratic model(0);
  SessionOptions o = of(0);
  o.pause = &pause;
  o.stop = &stop;
  Session session(model.adapter, o);
  model.step();
  session.exchange({.samples = 1});
  EXPECT_NE(session.finish(), Agreement::kPaused);
}

}  // namespace
}  // namespace fast
