#include "fast/session/pump_options.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "fast/errors.h"
#include "stencil/mix/codecs/kinds.h"

namespace fast {
namespace {

struct NoModel : ModelAdapter {
  [[nodiscard]] std::vector<ParameterSlot> parameters() const override { return {}; }
  [[nodiscard]] std::span<float> values() override { return {}; }
  [[nodiscard]] std::vector<NamedTensor> state() override { return {}; }
};

stencil::PumpOptions options_of(const SessionOptions& options) {
  const auto topology = stencil::Topology::parse(options.topology);
  stencil::Carried nothing;
  NoModel model;
  return make_pump_options(options, topology, stencil::Layout::flat(10, 4), 77, model, nothing,
                           stencil::usual_bounds(4));
}

TEST(PumpOptionsTest, TheHelloSaysWhatNeighboursCompare) {
  SessionOptions options;
  options.topology = "torus:2x2";
  options.rank = 2;
  options.run_id = "monday";
  options.seed = 5;
  options.exchange.mode = "bounded:3";
  options.exchange.codec = "topk:0.1";
  const stencil::Layout layout = stencil::Layout::flat(10, 4);
  const stencil::EngineConfig engine = options_of(options).engine;
  EXPECT_EQ(engine.rank, 2);
  EXPECT_EQ(engine.seed, 5U);
  EXPECT_EQ(engine.buckets, layout.bucket_count() + 1) << "and the telemetry's";
  EXPECT_EQ(engine.hello.run_id, "monday");
  EXPECT_EQ(engine.hello.topology, "torus:2x2");
  EXPECT_EQ(engine.hello.mode, "bounded:3");
  EXPECT_EQ(engine.hello.codec, stencil::parse_codec("topk:0.1"));
  EXPECT_EQ(engine.hello.layout_hash, layout.hash());
  EXPECT_EQ(engine.hello.initial_hash, 77U);
  EXPECT_NE(engine.hello.generation, 0U);
}

/// An edges file is identified by its content, not by its path.
TEST(PumpOptionsTest, EqualEdgesAreOneTopologyWhereverTheirFileLies) {
  const std::string stem = ::testing::TempDir() + "fast_pump_options_" + std::to_string(::getpid());
  const auto identity = [&](const std::string& name, const char* edges) {
    const std::string path = stem + name;
    std::ofstream(path) << edges;
    SessionOptions options;
    options.topology = "edges:" + path;
    const std::string seen = options_of(options).engine.hello.topology;
    std::remove(path.c_str());
    return seen;
  };
  const std::string first = identity("a", "0 1\n1 2\n");
  EXPECT_EQ(identity("b", "# the same\n2 1\n1 0\n"), first);
  EXPECT_NE(identity("a", "0 1\n0 2\n"), first);
}

TEST(PumpOptionsTest, TheNearerTheTargetTheLowerTheThreshold) {
  SessionOptions wide, narrow;
  wide.topology = narrow.topology = "ring:8";
  wide.exchange.settle_target = 1e-2;
  narrow.exchange.settle_target = 1e-4;
  EXPECT_GT(options_of(wide).settle_threshold, options_of(narrow).settle_threshold);
  EXPECT_GT(options_of(narrow).settle_threshold, 0);
}

TEST(PumpOptionsTest, OptionsOutOfTheirRangeAreRefused) {
  SessionOptions options;
  options.exchange.window = 0;
  EXPECT_THROW((void)options_of(options), ConfigError);
}

}  // namespace
}  // namespace fast
