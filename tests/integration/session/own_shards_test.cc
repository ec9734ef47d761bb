// Workers that hold unequal shards and know the size of their own alone.
#include <gmock/gmock.h>

#include <array>
#include <mutex>

#include "tests/integration/session/session_fixture.h"

namespace fast {
namespace {

using ::testing::HasSubstr;

constexpr std::array<std::uint64_t, 4> kShards = {300, 3000, 900, 300};
constexpr std::uint64_t kBatch = 10;
constexpr double kEpochs = 2;

TEST_F(SessionTest, TheEndByEpochsIsThatOfAllShardsTogether) {
  std::mutex mutex;
  std::uint64_t samples = 0, examples = 0;
  in_threads(4, [&](int rank) {
    Quadratic worker(rank);
    SessionOptions of = options("ring:4", rank);
    of.data_size = kShards[static_cast<std::size_t>(rank)];
    of.epochs = kEpochs;
    Session session(worker.adapter, of);
    session.join();
    while (!session.done()) {
      worker.step();
      session.exchange({.samples = kBatch, .loss = 1});
    }
    EXPECT_NEAR(session.status().mean_data_size, 1125, 120) << rank;
    EXPECT_EQ(session.finish(), Agreement::kAgreed);
    const std::lock_guard lock(mutex);
    samples += kBatch * session.steps();
    examples += of.data_size;
  });
  const auto aim = kEpochs * static_cast<double>(examples);
  EXPECT_NEAR(static_cast<double>(samples), aim, 0.1 * aim);
}

TEST_F(SessionTest, WhoReachesNobodyMakesTheEpochsOfItsOwnShard) {
  Quadratic worker(0);
  SessionOptions of = options("ring:2", 0);
  of.exchange.start_deadline = 0.1;
  of.exchange.settle_deadline = 0.1;
  of.log = [](LogLevel, std::string_view) {};
  of.data_size = 300;
  of.epochs = 2;
  Session session(worker.adapter, of);
  while (!session.done()) {
    worker.step();
    session.exchange({.samples = kBatch, .loss = 1});
  }
  EXPECT_EQ(session.steps(), 60U);
}

TEST_F(SessionTest, OtherEpochsAreRefusedByName) {
  Quadratic first(0), second(1);
  SessionOptions zero = options("ring:2", 0), one = options("ring:2", 1);
  zero.data_size = 300;
  one.data_size = 400;
  zero.epochs = 2;
  one.epochs = 3;
  Session a(first.adapter, zero), b(second.adapter, one);
  try {
    b.join();
    ADD_FAILURE() << "not refused";
  } catch (const RefusedError& error) {
    EXPECT_THAT(error.what(), HasSubstr("budget differs: ours 3 epochs, theirs 2 epochs"));
  }
}

}  // namespace
}  // namespace fast
