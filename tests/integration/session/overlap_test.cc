// Steps that become ready part by part, before their boundary.
#include <gtest/gtest.h>

#include <chrono>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include "adapters/flat/flat_adapter.h"
#include "fast/session/session.h"
#include "stencil/transport/inproc/inproc_network.h"
#include "tests/integration/session/session_fixture.h"

namespace fast {
namespace {

constexpr std::size_t kFloats = 1000;  // four buckets of a KiB, the last one shorter

/// Only mode async uses it; the other modes ignore it.
class OverlapTest : public ::testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Modes, OverlapTest, ::testing::ValuesIn(kSessionModes), mode_name);

/// Each worker adds 1 to all of its model in each step, so all end at their number of steps,
/// whatever was exchanged and when.
TEST_P(OverlapTest, WhatIsMadeIsExchangedBeforeTheStepEndsAndTheMeanIsKept) {
  constexpr int kSteps = 30, kLooked = 20;
  const bool async = std::string(GetParam()) == "async";
  const auto network = std::make_shared<stencil::InprocNetwork>();
  std::vector<std::vector<float>> models(2, std::vector<float>(kFloats));
  std::latch looked(2);
  const auto work = [&](int rank) {
    std::vector<float>& x = models[static_cast<std::size_t>(rank)];
    FlatAdapter adapter(x);
    SessionOptions options;
    options.topology = "ring:2";
    options.rank = rank;
    options.exchange.mode = GetParam();
    options.listen = "inproc://worker-" + std::to_string(rank);
    options.peer_template = "inproc://worker-{rank}";
    options.inproc = network;
    options.exchange.bucket_kib = 1;
    options.exchange.linger =
        0;  // no boundary's sweeps come in time, so they begin as early as they can
    Session session(adapter, options);
    session.join();
    const auto wait_until = [&](const auto& condition) {
      const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
      while (!condition(session.status()) && std::chrono::steady_clock::now() < until) {
        std::this_thread::yield();
      }
      return condition(session.status());
    };
    using Status = SessionStatus;
    for (int step = 0; step < kSteps; ++step) {
      std::uint64_t before = 0;
      if (step == kLooked && async) {  // in other modes a neighbour may be at its finish by now
        EXPECT_TRUE(wait_until([](const Status& s) { return s.flushed; }));
        before = session.status().counter("offers");
      }
      for (std::size_t end = kFloats; end > 0; end = end > 250 ? end - 250 : 0) {
        const std::size_t first = end > 250 ? end - 250 : 0;
        for (std::size_t i = first; i < end; ++i) x[i] += 1;
        adapter.ready_from(first);
      }
      if (step == kLooked && async) {
        EXPECT_TRUE(wait_until([before](const Status& s) { return s.counter("offers") > before; }));
        EXPECT_EQ(session.steps(), static_cast<std::uint64_t>(kLooked)) << "before its end";
        looked.arrive_and_wait();
      }
      session.exchange({.samples = 1, .loss = 1});
    }
    EXPECT_EQ(session.finish(), Agreement::kAgreed);
  };
  {
    std::jthread one([&] { work(0); }), other([&] { work(1); });
  }
  for (const auto& x : models) {
    for (const float value : x) ASSERT_NEAR(value, kSteps, 1e-3);
  }
}

TEST(Overlap, ASessionThatIsGoneListensNoMore) {
  std::vector<float> x(kFloats);
  FlatAdapter adapter(x);
  { const Session session(adapter, SessionOptions{}); }
  adapter.ready_from(0);
}

}  // namespace
}  // namespace fast
