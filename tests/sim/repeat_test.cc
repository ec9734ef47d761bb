// The same seed gives the same bytes, twice.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "tests/support/codec_cases.h"
#include "tests/support/sim_cases.h"

namespace stencil {
namespace {

/// Models, telemetry and counts along the way and at the end, bit for bit.
std::vector<std::uint64_t> trace(const test::SimCase& one) {
  const auto objective =
      sim::make_quadratic(one.config.topology.size(), one.dimension, 0.05, 0.3, one.config.seed);
  sim::Simulation simulation(one.config, *objective);
  std::vector<std::uint64_t> seen;
  const auto look = [&] {
    for (const float value : test::all_models(simulation)) {
      std::uint32_t bits;
      std::memcpy(&bits, &value, sizeof bits);
      seen.push_back(bits);
    }
    const sim::Snapshot snapshot = simulation.snapshot();
    const EngineCounters total = test::total_counters(simulation);
    seen.insert(seen.end(), {snapshot.bytes, snapshot.steps, snapshot.sweeps, total.offers,
                             total.merges, total.withdrawn, total.stale_frames});
    for (const double value : simulation.telemetry(0)) {
      std::uint64_t bits;
      std::memcpy(&bits, &value, sizeof bits);
      seen.push_back(bits);
    }
  };
  for (int part = 1; part <= 4; ++part) {
    simulation.run_until(simulation.end_time() * part / 4);
    look();
  }
  (void)simulation.finish();
  look();
  return seen;
}

TEST(Repeat, the_same_seed_gives_the_same_bytes) {
  const std::vector<CodecSpec> codecs = test::every_codec(100'000);
  for (std::size_t i = 0; i < 2 * codecs.size(); ++i) {
    auto one = test::random_case(test::case_seed(5000 + i), codecs[i % codecs.size()]);
    one.config.exchange.settle_deadline = 20;
    SCOPED_TRACE(one.text);
    EXPECT_EQ(trace(one), trace(one));
  }
}

TEST(Repeat, the_same_seed_gives_the_same_bytes_with_outages_and_in_every_mode) {
  for (const char* mode : {"async", "bounded:3", "sync"}) {
    auto one = test::random_case(test::case_seed(5100), {});
    one.config.topology = Topology::parse("torus:2x3");
    one.config.links.clear();
    one.config.slow = {{1, 5.0}};
    one.config.exchange.mode = mode;
    one.config.exchange.settle_deadline = 20;
    one.config.outages = {{0, 1, 0.4, 0.9}, {3, 4, 0.5, 0.6}, {3, 4, 0.8, 1.1}};
    SCOPED_TRACE(one.text + " " + mode);
    EXPECT_EQ(trace(one), trace(one));
  }
}

TEST(Repeat, another_seed_gives_other_bytes) {
  auto one = test::random_case(test::case_seed(5200), {});
  one.config.exchange.settle_deadline = 20;
  const auto first = trace(one);
  ++one.config.seed;
  EXPECT_NE(first, trace(one));
}

}  // namespace
}  // namespace stencil
