// What becomes of each array, by its role: trained, averaged at the end, carried.
#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <tuple>
#include <vector>

#include "fast/run/safetensors.h"
#include "tests/integration/c/c_worker.h"

namespace fast::test {
namespace {

using ::testing::Each;
using ::testing::FloatNear;
using ::testing::HasSubstr;

/// A worker with running statistics, and arrays that nobody trains, of types that have no mean.
struct RichWorker : Worker {
  explicit RichWorker(int rank)
      : Worker(rank),
        mean(3, rank == 0 ? 5.0F : 0.0F),
        frozen(4, static_cast<float>(rank)),
        complex(2, static_cast<float>(rank)),
        half(2, static_cast<std::uint16_t>(rank)),
        small(2, static_cast<std::uint8_t>(rank)) {
    for (auto [role, name, type, size, memory] :
         {std::tuple{FAST_AVERAGED, "mean", "F32", 3, static_cast<void*>(mean.data())},
          {FAST_CARRIED, "frozen", "F32", 4, static_cast<void*>(frozen.data())},
          {FAST_CARRIED, "complex", "C64", 1, static_cast<void*>(complex.data())},
          {FAST_CARRIED, "half", "U16", 2, static_cast<void*>(half.data())},
          {FAST_CARRIED, "small", "F8_E4M3", 2, static_cast<void*>(small.data())}}) {
      const std::int64_t shape[] = {size};
      EXPECT_EQ(fast_array(session, role, name, type, 1, shape, memory), FAST_OK)
          << fast_error(session);
    }
    const auto count = [](void* self) { ++static_cast<RichWorker*>(self)->replaced; };
    EXPECT_EQ(fast_set_model_replaced(session, count, this), FAST_OK);
  }
  std::vector<float> mean, frozen, complex;
  std::vector<std::uint16_t> half;
  std::vector<std::uint8_t> small;
  int replaced = 0;
};

TEST(CRoles, CarriedArraysBeginAsThoseOfRank0AndAveragedOnesEndAsTheMean) {
  RichWorker first(0), second(1);
  both(first, second, [&](Worker& worker) {
    auto& rich = static_cast<RichWorker&>(worker);
    ASSERT_EQ(fast_join(rich.session), FAST_OK) << fast_error(rich.session);
    EXPECT_THAT(rich.frozen, Each(0.0F));
    EXPECT_THAT(rich.complex, Each(0.0F));
    EXPECT_THAT(rich.half, Each(0));
    EXPECT_THAT(rich.small, Each(0));
    EXPECT_THAT(rich.mean, Each(5.0F)) << "this worker's own, from rank 0's on";
    for (int step = 0; step < 20; ++step) {
      rich.step();
      for (float& one : rich.mean) one += &rich == &first ? 0.1F : 0.3F;
      EXPECT_EQ(fast_exchange(rich.session, 1, 1), FAST_OK) << fast_error(rich.session);
    }
    EXPECT_THAT(rich.mean, Each(FloatNear(&rich == &first ? 7.0F : 11.0F, 1e-4F)));
    int agreed = 0;
    EXPECT_EQ(fast_finish(rich.session, &agreed), FAST_OK) << fast_error(rich.session);
    EXPECT_EQ(agreed, 1);
    EXPECT_THAT(rich.mean, Each(FloatNear(9.0F, 1e-3F)));
    EXPECT_THAT(rich.frozen, Each(0.0F));
  });
  EXPECT_EQ(first.replaced, 0);
  EXPECT_EQ(second.replaced, 1);
}

/// A framework binds its arrays anew.
TEST(CRoles, ArraysMayMoveBetweenTwoCalls) {
  RichWorker first(0), second(1);
  float ends[2] = {};
  both(first, second, [&](Worker& worker) {
    auto& rich = static_cast<RichWorker&>(worker);
    ASSERT_EQ(fast_join(rich.session), FAST_OK) << fast_error(rich.session);
    std::vector<float> mean(3, 2.0F), frozen = rich.frozen, scalar = {rich.x[4]};
    EXPECT_EQ(fast_array_moved(rich.session, 0, mean.data()), FAST_OK) << fast_error(rich.session);
    EXPECT_EQ(fast_array_moved(rich.session, 1, frozen.data()), FAST_OK);
    EXPECT_EQ(fast_array_moved(rich.session, 6, scalar.data()), FAST_OK);
    EXPECT_EQ(fast_array_moved(rich.session, 7, scalar.data()), FAST_USAGE);
    EXPECT_THAT(fast_error(rich.session), HasSubstr("7"));
    for (int step = 0; step < 60; ++step) {
      rich.step();
      scalar[0] -= 0.2F * (scalar[0] - rich.target[4]);
      EXPECT_EQ(fast_exchange(rich.session, 1, 1), FAST_OK) << fast_error(rich.session);
    }
    int agreed = 0;
    EXPECT_EQ(fast_finish(rich.session, &agreed), FAST_OK);
    EXPECT_EQ(agreed, 1);
    ends[&rich == &first ? 0 : 1] = scalar[0];
    EXPECT_THAT(mean, Each(FloatNear(2.0F, 1e-3F)));
    EXPECT_THAT(rich.mean, Each(5.0F)) << "its old place is the caller's";
  });
  // Each draws its own to its own goal, 5 or 10. Where they meet depends on who trains last.
  EXPECT_NEAR(ends[0], ends[1], 1e-3F);
}

TEST(CRoles, ARoleThatThereIsNotAndATypeWithoutAMeanAreRefused) {
  fast_session* const session = fast_new();
  const std::int64_t shape[] = {2};
  float memory[2] = {};
  EXPECT_EQ(fast_array(session, static_cast<fast_role>(3), "x", "F32", 1, shape, memory),
            FAST_USAGE);
  EXPECT_THAT(fast_error(session), HasSubstr("FAST_CARRIED"));
  EXPECT_EQ(fast_array(session, FAST_TRAINED, "x", "F32", 1, shape, memory), FAST_OK);
  EXPECT_EQ(fast_array(session, FAST_AVERAGED, "count", "I32", 1, shape, memory), FAST_OK);
  EXPECT_EQ(fast_open(session), FAST_MODEL);
  EXPECT_THAT(fast_error(session), HasSubstr("'count' is of type I32"));
  fast_close(session);
}

TEST(CRoles, TiedArraysAreInModelFilesUnderEachName) {
  Worker alone(0);
  alone.set("topology", "ring:1");
  EXPECT_EQ(fast_array_alias(alone.session, "tied", 1), FAST_OK);
  alone.open();
  EXPECT_EQ(fast_exchange(alone.session, 1, 1), FAST_OK) << fast_error(alone.session);
  alone.x[4] = 7;
  const std::string path = ::testing::TempDir() + "c_roles_tied.safetensors";
  ASSERT_EQ(fast_save_model(alone.session, path.c_str()), FAST_OK) << fast_error(alone.session);
  const auto file = SafetensorsFile::open(path);
  unlink(path.c_str());
  for (const char* const name : {"scalar", "tied"}) {
    ASSERT_NE(file.find(name), nullptr) << name;
    float value = 0;
    std::memcpy(&value, file.find(name)->bytes.data(), sizeof value);
    EXPECT_EQ(value, 7) << name;
  }
  EXPECT_EQ(file.metadata().at(kExchangedKey), R"(["matrix","scalar"])");
  EXPECT_EQ(file.metadata().at("format"), "pt");
}

TEST(CRoles, OneEndsTheRunForBoth) {
  Worker first(0), second(1);
  both(first, second, [&](Worker& worker) {
    int steps = 0;
    for (; fast_done(worker.session) == 0 && steps < 1'000'000; ++steps) {
      worker.step();
      ASSERT_EQ(fast_exchange(worker.session, 1, 1), FAST_OK) << fast_error(worker.session);
      if (&worker == &first && steps == 10) {
        EXPECT_EQ(fast_stop_all(worker.session, "good enough"), FAST_OK);
      }
    }
    EXPECT_LT(steps, 1'000'000);
    int agreed = 0;
    EXPECT_EQ(fast_finish(worker.session, &agreed), FAST_OK);
    EXPECT_EQ(agreed, 1);
  });
}

}  // namespace
}  // namespace fast::test
