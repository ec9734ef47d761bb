// What rank 0 alone has loaded reaches all before the first step: trained parameters, frozen ones
// and buffers, however late it comes and whatever the others share.
#include <gmock/gmock.h>

#include <cstdint>
#include <latch>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "stencil/core/topology.h"
#include "tests/integration/session/session_fixture.h"

namespace fast {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

/// A trained array beside a frozen one and a counter.
struct Model {
  explicit Model(int rank)
      : loaded(rank == 0 ? 7.0F : 1.0F), x(100, loaded), frozen(70'000, loaded), count{rank == 0} {}
  NamedTensor array(std::string name, std::string type, std::span<std::byte> bytes,
                    std::int64_t size) {
    return {std::move(name), std::move(type), {size}, bytes};
  }
  float loaded;
  std::vector<float> x, frozen;
  std::int64_t count[1];
  FlatAdapter adapter{{array("x", "F32", std::as_writable_bytes(std::span(x)), 100)},
                      {array("frozen", "F32", std::as_writable_bytes(std::span(frozen)), 70'000),
                       array("count", "I64", std::as_writable_bytes(std::span(count)), 1)}};
};

class LoadedAtRank0 : public SessionTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(LoadedAtRank0, ReachesAllBeforeTheirFirstStep) {
  for (const bool late : {false, true}) {
    SCOPED_TRACE(late);
    network_ = std::make_shared<stencil::InprocNetwork>();
    const int workers = stencil::Topology::parse(GetParam()).size();
    std::latch others_are_there(workers - 1);
    in_threads(workers, [&](int rank) {
      if (rank == 0 && late) others_are_there.wait();
      Model model(rank);
      Session session(model.adapter, options(GetParam(), rank));
      if (rank > 0) others_are_there.count_down();
      session.join();
      EXPECT_THAT(model.frozen, Each(7.0F)) << rank;
      EXPECT_EQ(model.count[0], 1) << rank;
      for (float& one : model.x) one += 1;
      session.exchange({.samples = 1, .loss = 1});
      for (const float one : model.x) EXPECT_GE(one, 7.0F) << rank;
      EXPECT_EQ(session.finish(), Agreement::kAgreed);
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Grids, LoadedAtRank0,
                         ::testing::Values("torus:2x2", "torus:3x3", "ring:5", "ring:8"),
                         [](const auto& info) {
                           std::string name = info.param;
                           name.replace(name.find(':'), 1, "_");
                           return name;
                         });

TEST_F(SessionTest, FrozenArraysThatOthersLackAreRefusedByName) {
  Model model(0);
  Quadratic plain(1);
  std::vector<float> x(100, 1.0F);
  FlatAdapter less({{"x", "F32", {100}, std::as_writable_bytes(std::span(x))}});
  Session zero(model.adapter, options("ring:2", 0)), one(less, options("ring:2", 1));
  try {
    one.join();
    ADD_FAILURE() << "not refused";
  } catch (const RefusedError& error) {
    EXPECT_THAT(error.what(), HasSubstr("frozen parameters and buffers differs: ours none"));
  }
}

TEST_F(SessionTest, WhereModelsDifferTheFirstArrayThatDoesIsNamed) {
  Quadratic model(0), other(1);
  std::vector<float> x(101, 1.0F);
  FlatAdapter longer({{"x", "F32", {101}, std::as_writable_bytes(std::span(x))}});
  Session zero(model.adapter, options("ring:2", 0)), one(longer, options("ring:2", 1));
  try {
    one.join();
    ADD_FAILURE() << "not refused";
  } catch (const RefusedError& error) {
    EXPECT_THAT(error.what(), HasSubstr("model layout differs: ours"));
    EXPECT_THAT(error.what(),
                HasSubstr("the first array that differs is number 1 of 1 here, x F32 [101]"));
  }
}

TEST_F(SessionTest, WithoutRank0TheOthersBeginAtTheDeadlineAndSayWhoWasNotHeard) {
  std::string warnings;
  std::mutex mutex;
  network_ = std::make_shared<stencil::InprocNetwork>();
  std::vector<std::jthread> threads;
  for (const int rank : {1, 2, 3}) {
    threads.emplace_back([&, rank] {
      Model model(rank);
      SessionOptions of = options("torus:2x2", rank);
      of.exchange.start_deadline = 3;
      of.log = [&](stencil::LogLevel level, std::string_view text) {
        const std::lock_guard lock(mutex);
        if (level >= stencil::LogLevel::kWarning) warnings += std::string(text) + "\n";
      };
      Session session(model.adapter, of);
      session.join();
      session.exchange({.samples = 1, .loss = 1});
      EXPECT_EQ(session.finish(), Agreement::kAgreed) << rank;
    });
  }
  threads.clear();
  EXPECT_THAT(warnings, HasSubstr("the initial weights of rank 0 did not come"));
}

}  // namespace
}  // namespace fast
