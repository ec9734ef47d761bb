// How like the workers' steps are in length, by which momentum takes in less of what others move.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "stencil/io/event_loop.h"
#include "tests/integration/session/session_fixture.h"

namespace fast {
namespace {

/// By option linger, which says what boundaries wait for and not what is known of neighbours.
class LikenessTest : public SessionTest, public ::testing::WithParamInterface<double> {};
INSTANTIATE_TEST_SUITE_P(Lingers, LikenessTest, ::testing::Values(0.0, 0.1),
                         [](const auto& info) { return info.param > 0 ? "usual" : "none"; });

TEST_P(LikenessTest, FallsOfWhoeverStandsStillBesideAQuickOne) {
  std::atomic<bool> seen = false, over = false;
  in_threads(2, [&](int rank) {
    Quadratic worker(rank);
    SessionOptions options = this->options("ring:2", rank);
    options.exchange.linger = GetParam();
    Session session(worker.adapter, options);
    session.join();
    const auto deadline = stencil::EventLoop::now() + std::chrono::seconds(30);
    const auto step = [&] {
      worker.step();
      session.exchange({.samples = 1});
    };
    for (int i = 0; i < 3; ++i) step();
    while (rank == 0 && !over) step();
    while (rank == 1 && !seen && stencil::EventLoop::now() < deadline) {
      seen = session.status().likeness < 0.5;
    }
    over = true;
    session.finish();
  });
  EXPECT_TRUE(seen);
}

}  // namespace
}  // namespace fast
