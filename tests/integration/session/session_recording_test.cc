// What a session records of its exchange's decisions, see SessionOptions::record.
#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "fast/errors.h"
#include "stencil/io/event_loop.h"
#include "stencil/runtime/replay.h"
#include "tests/integration/session/session_fixture.h"
#include "tests/support/cifar_files.h"

namespace fast {
namespace {

using ::testing::HasSubstr;

class SessionRecordingTest : public SessionTest {
 protected:
  [[nodiscard]] std::string file(const std::string& rank) const {
    return (folder_.path() / ("worker-" + rank + ".journal")).string();
  }
  [[nodiscard]] SessionOptions options(const std::string& topology, int rank) const {
    SessionOptions options = SessionTest::options(topology, rank);
    options.record = file("{rank}");
    return options;
  }
  /// The inputs of a recording, which must be decided as they were.
  [[nodiscard]] std::uint64_t replayed(int rank) const {
    std::ifstream in(file(std::to_string(rank)), std::ios::binary);
    const std::vector<char> bytes((std::istreambuf_iterator<char>(in)), {});
    auto replay = stencil::replay(std::as_bytes(std::span(bytes)), [](const auto&) {});
    if (!replay) {
      ADD_FAILURE() << "worker " << rank << ": " << replay.error().text;
      return 0;
    }
    EXPECT_EQ(replay->rank, rank);
    EXPECT_EQ(replay->other, 0U) << "worker " << rank;
    return replay->inputs;
  }

  testing::TemporaryFolder folder_;
};

TEST_F(SessionRecordingTest, its_end_leaves_what_the_exchange_saw_and_decided_last) {
  for (const double seconds : {0.001, 60.0}) {
    SCOPED_TRACE(seconds);
    in_threads(2, [&](int rank) {
      Quadratic worker(rank);
      SessionOptions options = this->options("ring:2", rank);
      options.record_seconds = seconds;
      Session session(worker.adapter, options);
      for (int step = 0; step < 50; ++step) {
        worker.step();
        session.exchange({.samples = 1});
      }
      session.finish();
    });
    for (const int rank : {0, 1}) EXPECT_GT(replayed(rank), 0U);
  }
}

TEST_F(SessionRecordingTest, it_is_written_when_somebody_asks) {
  std::atomic<bool> now = false;
  Quadratic worker(0);
  SessionOptions options = this->options("ring:1", 0);
  options.record_now = &now;
  Session session(worker.adapter, options);
  session.exchange({.samples = 1});
  EXPECT_FALSE(std::filesystem::exists(file("0")));
  now = true;
  const auto deadline = stencil::EventLoop::now() + std::chrono::minutes(2);
  while (!std::filesystem::exists(file("0")) && stencil::EventLoop::now() < deadline) {
    session.exchange({.samples = 1});
  }
  EXPECT_GT(replayed(0), 0U);
  EXPECT_FALSE(now);
}

TEST_F(SessionRecordingTest, a_file_that_cannot_be_written_is_refused_at_once) {
  Quadratic worker(0);
  SessionOptions options = this->options("ring:1", 0);
  options.record = "/dev/null/worker.journal";
  EXPECT_THROW(Session(worker.adapter, options), FileError);
}

TEST_F(SessionRecordingTest, two_that_would_write_one_file_are_refused) {
  Quadratic first(0), second(1);
  SessionOptions options = this->options("ring:2", 0);
  options.record = file("shared");
  const Session session(first.adapter, options);
  SessionOptions others = this->options("ring:2", 1);
  others.record = options.record;
  try {
    const Session another(second.adapter, others);
    ADD_FAILURE() << "not refused";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("{rank}"));
  }
}

}  // namespace
}  // namespace fast
