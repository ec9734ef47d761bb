// One process opens a session of the same rank again: it goes on from the trained model, beside a
// neighbour that has trained as long.
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <thread>

#include "fast/session/status.h"
#include "tests/integration/session/session_fixture.h"
#include "tests/support/cifar_files.h"

namespace fast {
namespace {

constexpr int kSecond = 50;

class SecondSessionTest : public SessionTest {
 protected:
  static void train(Quadratic& worker, Session& session) {
    worker.step();
    session.exchange({.samples = 1, .loss = 0});
  }
  /// Rank 0 trains on while rank 1, after `steps`, ends its session and opens another one.
  void run(int steps, const std::filesystem::path& saved) {
    std::atomic<bool> between = false, over = false;
    in_threads(2, [&](int rank) {
      Quadratic worker(0);  // of the same data, so that nothing but the exchange can move it far
      SessionOptions options = this->options("ring:2", rank);
      if (rank == 0) {
        Session session(worker.adapter, options);
        session.join();
        while (!over) between ? std::this_thread::yield() : train(worker, session);
        session.finish();
        return;
      }
      const std::shared_ptr<void> end(nullptr, [&](void*) { between = false, over = true; });
      {
        Session first(worker.adapter, options);
        first.join();
        for (int step = 0; step < steps; ++step) train(worker, first);
        between = true;  // or it would be far ahead
        if (!saved.empty()) first.save_checkpoint(saved);
      }
      const std::vector<float> trained = worker.x;
      const float near = distance(trained, std::vector<float>(kSize, 0.5F)) / 2;
      if (!saved.empty()) std::ranges::fill(worker.x, 0.5F);
      options.resume = saved.string();
      Session second(worker.adapter, options);
      if (!saved.empty()) {
        EXPECT_EQ(worker.x, trained);
        EXPECT_EQ(second.steps(), static_cast<std::uint64_t>(steps));
      }
      second.join();
      between = false;
      for (int step = 0; step < kSecond; ++step) {
        train(worker, second);
        EXPECT_LT(distance(worker.x, trained), near) << step;
      }
      EXPECT_EQ(second.status().neighbours.at(0).link, LinkState::kUp);
      over = true;
      EXPECT_EQ(second.finish(), Agreement::kAgreed);
    });
  }
};

TEST_F(SecondSessionTest, GoesOnFromTheTrainedWeights) {
  run(300, {});
}

TEST_F(SecondSessionTest, ResumesFromTheFirstOnesCheckpoint) {
  const testing::TemporaryFolder folder;
  run(300, folder.path() / "saved");
}

}  // namespace
}  // namespace fast
