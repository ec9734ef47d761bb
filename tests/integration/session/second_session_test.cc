// One process opens a session of the same rank again: after the first has ended it goes on from the
// trained model, among neighbours that train on.
#include <atomic>
#include <filesystem>

#include "fast/session/status.h"
#include "tests/integration/session/session_fixture.h"
#include "tests/support/cifar_files.h"

namespace fast {
namespace {

TEST_F(SessionTest, ASecondSessionOfARankGoesOnFromTheTrainedWeights) {
  constexpr int kFirst = 300, kSecond = 50;
  const testing::TemporaryFolder folder;
  std::atomic<bool> over = false;
  in_threads(2, [&](int rank) {
    Quadratic worker(rank);
    SessionOptions options = this->options("ring:2", rank);
    const auto train = [&](Session& session) {
      worker.step();
      session.exchange({.samples = 1, .loss = 0});
    };
    if (rank == 0) {
      Session session(worker.adapter, options);
      session.join();
      while (!over) train(session);
      session.finish();
      return;
    }
    {
      Session first(worker.adapter, options);
      first.join();
      for (int step = 0; step < kFirst; ++step) train(first);
    }
    const std::vector<float> trained = worker.x;
    // The weights are trained ones, and no session's: it takes its neighbour's model, which is
    // near.
    Session second(worker.adapter, options);
    second.join();
    EXPECT_LT(distance(worker.x, trained), 0.2F);
    for (int step = 0; step < kSecond; ++step) {
      train(second);
      EXPECT_LT(distance(worker.x, trained), 0.3F) << step;
    }
    EXPECT_EQ(second.status().neighbours.at(0).link, LinkState::kUp);
    over = true;
    EXPECT_EQ(second.finish(), Agreement::kAgreed);
  });
}

TEST_F(SessionTest, ASecondSessionOfARankResumesFromTheFirstOnesCheckpoint) {
  constexpr int kFirst = 300, kSecond = 50;
  const testing::TemporaryFolder folder;
  std::atomic<bool> over = false;
  in_threads(2, [&](int rank) {
    Quadratic worker(rank);
    SessionOptions options = this->options("ring:2", rank);
    const auto train = [&](Session& session) {
      worker.step();
      session.exchange({.samples = 1, .loss = 0});
    };
    if (rank == 0) {
      Session session(worker.adapter, options);
      session.join();
      while (!over) train(session);
      session.finish();
      return;
    }
    const std::string saved = (folder.path() / "saved").string();
    {
      Session first(worker.adapter, options);
      first.join();
      for (int step = 0; step < kFirst; ++step) train(first);
      first.save(saved);
    }
    const std::vector<float> trained = worker.x;
    std::ranges::fill(worker.x, 0.5F);
    options.resume = saved;
    Session second(worker.adapter, options);
    EXPECT_EQ(worker.x, trained);
    EXPECT_EQ(second.steps(), static_cast<std::uint64_t>(kFirst));
    second.join();
    for (int step = 0; step < kSecond; ++step) {
      train(second);
      EXPECT_LT(distance(worker.x, trained), 0.3F) << step;
    }
    EXPECT_EQ(second.status().neighbours.at(0).link, LinkState::kUp);
    over = true;
    EXPECT_EQ(second.finish(), Agreement::kAgreed);
  });
}

}  // namespace
}  // namespace fast
