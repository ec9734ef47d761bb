#include "adapters/flat/flat_adapter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "adapters/flat/models/flat_learner.h"

namespace fast {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(FlatAdapter, ValuesAreTheVectorItself) {
  std::vector<float> vector{1, 2, 3};
  FlatAdapter adapter(vector);
  EXPECT_EQ(adapter.values().data(), vector.data());
  adapter.values()[1] = 5;
  EXPECT_EQ(vector[1], 5);
  EXPECT_EQ(adapter.parameters().size(), 1U);
}

TEST(FlatAdapter, FollowsAReallocationOfTheSameSize) {
  std::vector<float> vector{1, 2, 3};
  FlatAdapter adapter(vector);
  std::vector<float> other{4, 5, 6};
  vector.swap(other);
  EXPECT_EQ(adapter.values().data(), vector.data());
  EXPECT_EQ(adapter.values()[0], 4);
}

TEST(FlatAdapter, RefusesAChangedSizeAndNamesTheRemedy) {
  std::vector<float> vector{1, 2, 3};
  FlatAdapter adapter(vector);
  vector.push_back(4);
  EXPECT_THAT([&] { (void)adapter.values(); },
              ThrowsMessage<AdapterError>(HasSubstr("make a new adapter")));
  EXPECT_THROW((void)adapter.state(), AdapterError);
}

TEST(FlatAdapter, LaysNamedParametersEndToEnd) {
  std::vector<float> vector(7);
  FlatAdapter adapter(vector, {{"a", {2, 2}}, {"b", {3}}});
  const auto slots = adapter.parameters();
  EXPECT_EQ(slots[1].offset, 4U);
  EXPECT_EQ(slots[1].size, 3U);
  EXPECT_EQ(adapter.state()[1].bytes.size(), 12U);
}

TEST(FlatAdapter, RefusesParametersThatDoNotAddUp) {
  std::vector<float> vector(7);
  EXPECT_THAT(
      [&] {
        FlatAdapter(vector, {{"a", {2, 2}}});
      },
      ThrowsMessage<AdapterError>(HasSubstr("4 floats, the vector holds 7")));
  EXPECT_THROW(FlatAdapter(vector, {{"a", {-7}}}), AdapterError);
}

TEST(FlatAdapter, AnEmptyVectorIsAnEmptyModel) {
  std::vector<float> vector;
  FlatAdapter adapter(vector);
  EXPECT_TRUE(adapter.values().empty());
}

TEST(FlatLearner, RefusesWhatNeedsAFramework) {
  LearnerOptions options;
  options.examples = ImageShape{1, 8, 8, 3};
  options.model = "resnet8";
  EXPECT_THAT([&] { (void)make_flat_learner(options); },
              ThrowsMessage<ConfigError>(HasSubstr("FAST_WITH_TORCH")));
  options.model = "linear";
  options.optimizer.name = "adagrad";
  EXPECT_THROW((void)make_flat_learner(options), ConfigError);
}

}  // namespace
}  // namespace fast
