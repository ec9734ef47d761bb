// Allocations of two sessions of one process after their start.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "adapters/flat/flat_adapter.h"
#include "fast/session/session.h"
#include "tests/integration/session/session_fixture.h"
#include "tests/support/allocations.h"

namespace fast {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

struct Way {
  std::string mode;
  std::string transport;  ///< or "shared"
  [[nodiscard]] bool shared() const { return transport == "shared"; }
};

/// Every mode over every transport whose code is ours (libzmq allocates for each message), except
/// lock step in shared memory, which does not exist.
std::vector<Way> all_ways() {
  std::vector<Way> ways;
  for (const char* const mode : kSessionModes) {
    for (const char* const transport : {"shared", "tcp"}) {
      const Way way{mode, transport};
      if (way.mode != "sync" || !way.shared()) ways.push_back(way);
    }
  }
  return ways;
}

class SessionCostTest : public ::testing::TestWithParam<Way> {};

INSTANTIATE_TEST_SUITE_P(Ways, SessionCostTest, ::testing::ValuesIn(all_ways()),
                         [](const auto& info) {
                           const std::string& mode = info.param.mode;
                           return mode.substr(0, mode.find(':')) + "_" + info.param.transport;
                         });

/// One of two workers, each drawn to a model of its own.
class Worker {
 public:
  Worker(std::size_t buckets, const SessionOptions& options)
      : values_(buckets * static_cast<std::size_t>(options.exchange.bucket_kib) * 1024 /
                sizeof(float)),
        aim_(static_cast<float>(options.rank)),
        adapter_(values_),
        session_(adapter_, options) {}
  void step() {
    for (float& value : values_) value += 0.1F * (aim_ - value);
    session_.exchange({.samples = 1, .loss = 1});
  }
  [[nodiscard]] const Session& session() const { return session_; }
  [[nodiscard]] std::uint64_t frames() const {
    return session_.status().counter("frames_received");
  }
  /// How often the whole model was received, or averaged in shared memory.
  [[nodiscard]] std::uint64_t models() const {
    const SessionStatus now = session_.status();
    return (now.counter("bytes_received") + now.counter("bytes_shared")) /
           (values_.size() * sizeof(float));
  }

 private:
  std::vector<float> values_;
  float aim_;
  FlatAdapter adapter_;
  Session session_;
};

/// The allocations of a round in which no other thread allocates, or of the last round before
/// `until`. A round acts for at least `least`, and until `count` has grown by `more`. How far pools
/// grow, within the windows, depends on the timing of threads, so warm-up has no fixed length.
/// Allocations of a step, a turn or a status occur in every round.
template <typename Count, typename Act>
std::uint64_t allocations_once_warm(Clock::time_point until, Clock::duration least, Count count,
                                    std::uint64_t more, Act act) {
  const auto others = [] { return test::allocations_of_all_threads() - test::allocations().count; };
  std::uint64_t before = 0, after = others();
  do {
    before = after;
    const Clock::time_point end = Clock::now() + least;
    const std::uint64_t enough = count() + more;
    while ((Clock::now() < end || count() < enough) && Clock::now() < until) act();
    after = others();
  } while (after != before && Clock::now() < until);
  return after - before;
}

TEST_P(SessionCostTest, AfterWarmUpNothingIsAllocatedWhateverTheModel) {
  for (const std::size_t buckets : {3U, 50U}) {
    SessionOptions options;
    options.topology = "ring:2";
    options.exchange.mode = GetParam().mode;
    if (GetParam().shared()) {
      options.exchange.share_memory = "auto";
    } else {
      options.exchange.share_memory = "never";
      options.exchange.transport = GetParam().transport;
    }
    options.exchange.bucket_kib = 4;
    Worker worker(buckets, options);
    std::atomic<bool> stop{false};
    options.rank = 1;
    options.peers = {{0, worker.session().endpoint()}};
    options.stop = &stop;
    Worker neighbour(buckets, options);
    const Clock::time_point until = Clock::now() + 60s;
    {
      const std::jthread training([&](const std::stop_token& over) {
        const std::stop_callback end(over, [&] { stop = true; });
        try {
          while (!stop) neighbour.step();
        } catch (const std::exception& error) {
          ADD_FAILURE() << error.what();
        }
      });
      const auto models = [&] { return worker.models(); };
      const auto step = [&] { worker.step(); };
      ASSERT_EQ(allocations_once_warm(until, 500ms, models, 20, step), 0U) << buckets << " buckets";
    }
    const auto frames = [&] { return worker.frames(); };  // heartbeats
    const auto idle = [] { std::this_thread::yield(); };
    ASSERT_EQ(allocations_once_warm(until, 1000ms, frames, 2, idle), 0U) << buckets << " buckets";
    ASSERT_LT(Clock::now(), until) << "nothing was exchanged";
    EXPECT_EQ(worker.session().status().neighbours.at(0).shared, GetParam().shared());
  }
}

}  // namespace
}  // namespace fast
