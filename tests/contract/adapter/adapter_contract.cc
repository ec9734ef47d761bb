#include "tests/contract/adapter/adapter_contract.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <set>

#include "stencil/core/half_floats.h"
#include "stencil/core/layout.h"
#include "stencil/core/random.h"

namespace fast::testing {
namespace {

using stencil::ElementType;

/// Numbers that every type has: multiples of 1/64 between -1 and 1.
std::vector<double> numbers(std::size_t count, std::uint64_t stream) {
  const int seed = ::testing::UnitTest::GetInstance()->random_seed();
  ::testing::Test::RecordProperty("seed", seed);
  stencil::Random random(stencil::Random::derive(static_cast<std::uint64_t>(seed), stream));
  std::vector<double> values(count);
  for (double& value : values) value = (static_cast<double>(random.below(129)) - 64) / 64;
  return values;
}

std::size_t size_of(AttachedModel& model) {
  return model.adapter().values().size();
}

/// What a session reads.
std::vector<double> pulled(AttachedModel& model) {
  const auto values = model.adapter().values();
  model.adapter().pull(0, values.size());
  return {values.begin(), values.end()};
}

/// What a session leaves there.
void push(AttachedModel& model, const std::vector<double>& wanted) {
  const auto values = model.adapter().values();
  std::ranges::transform(wanted, values.begin(), [](double v) { return static_cast<float>(v); });
  model.adapter().push(0, values.size());
}

}  // namespace

TEST_P(AdapterContract, ParametersCoverTheVectorWithoutGapOrOverlap) {
  const auto model = GetParam().make();
  const auto slots = model->adapter().parameters();
  std::size_t end = 0;
  std::set<std::string> names;
  for (const auto& slot : slots) {
    EXPECT_EQ(slot.offset, end) << slot.name;
    std::size_t size = 1;
    for (const auto extent : slot.shape) size *= static_cast<std::size_t>(extent);
    EXPECT_EQ(slot.size, size) << slot.name;
    EXPECT_TRUE(names.insert(slot.name).second) << slot.name;
    end += slot.size;
  }
  EXPECT_EQ(size_of(*model), end);
  EXPECT_EQ(stencil::Layout(slots).size(), end);
  EXPECT_EQ(model->read().size(), end);
}

TEST_P(AdapterContract, WhatTheFrameworkHasIsWhatASessionReads) {
  const auto model = GetParam().make();
  for (const std::uint64_t stream : {1, 2}) {
    const auto wanted = numbers(size_of(*model), stream);
    model->write(wanted);
    EXPECT_EQ(pulled(*model), wanted);
  }
}

TEST_P(AdapterContract, WhatASessionLeavesIsWhatTheFrameworkHas) {
  const auto model = GetParam().make();
  for (const std::uint64_t stream : {3, 4}) {
    const auto wanted = numbers(size_of(*model), stream);
    model->write(numbers(size_of(*model), stream + 2));
    (void)pulled(*model);
    push(*model, wanted);
    const auto have = model->read();
    for (std::size_t i = 0; i < wanted.size(); ++i) ASSERT_NEAR(have[i], wanted[i], 1e-12) << i;
  }
}

/// A session writes there from another thread, and pushes later.
TEST_P(AdapterContract, InPlaceTheModelHasWhatIsWrittenAndOtherwiseNotYet) {
  const auto model = GetParam().make();
  const auto before = numbers(size_of(*model), 9);
  model->write(before);
  (void)pulled(*model);
  const auto wanted = numbers(size_of(*model), 10);
  const auto values = model->adapter().values();
  std::ranges::transform(wanted, values.begin(), [](double v) { return static_cast<float>(v); });
  const auto have = model->read();
  EXPECT_EQ(have == wanted, model->adapter().in_place());
}

TEST_P(AdapterContract, APartIsPulledAndPushedAlone) {
  const auto model = GetParam().make();
  const std::size_t size = size_of(*model);
  ASSERT_GE(size, 3U) << "the suite needs a model of three numbers or more";
  const std::size_t first = size / 3, count = size / 2;
  const auto before = numbers(size, 7), after = numbers(size, 8);
  model->write(before);
  const auto values = model->adapter().values();
  model->adapter().pull(0, size);
  model->adapter().push(0, size);
  for (std::size_t i = first; i < first + count; ++i) values[i] = static_cast<float>(after[i]);
  model->adapter().push(first, count);
  const auto have = model->read();
  for (std::size_t i = 0; i < size; ++i) {
    const bool inside = i >= first && i < first + count;
    ASSERT_NEAR(have[i], inside ? after[i] : before[i], 1e-12) << i;
  }
  auto mixed = before;
  std::copy_n(after.begin() + static_cast<std::ptrdiff_t>(first), count,
              mixed.begin() + static_cast<std::ptrdiff_t>(first));
  model->write(mixed);
  model->adapter().pull(first, count);
  for (std::size_t i = first; i < first + count; ++i) ASSERT_EQ(values[i], after[i]) << i;
}

TEST_P(AdapterContract, WhatIsPushedUnchangedStaysAsItIsToTheLastBit) {
  const auto model = GetParam().make();
  auto odd = numbers(size_of(*model), 9);
  for (double& value : odd) value += std::ldexp(1.0, -40) / 3;  // no float has this digit
  model->write(odd);
  const auto before = model->read();
  (void)pulled(*model);
  model->adapter().push(0, size_of(*model));
  EXPECT_EQ(model->read(), before);
}

TEST_P(AdapterContract, NumbersThatAreNoneAreSeen) {
  const auto model = GetParam().make();
  auto values = numbers(size_of(*model), 10);
  values[values.size() / 2] = std::nan("");
  model->write(values);
  EXPECT_TRUE(std::isnan(pulled(*model)[values.size() / 2]));
}

TEST_P(AdapterContract, ASteppedModelKeepsItsPlace) {
  const auto model = GetParam().make();
  const auto before = model->adapter().values();
  model->write(numbers(before.size(), 11));
  const auto after = model->adapter().values();
  EXPECT_EQ(after.data(), before.data());
  EXPECT_EQ(after.size(), before.size());
}

TEST_P(AdapterContract, StateHoldsEachParameterOnceInItsOwnType) {
  const auto model = GetParam().make();
  const std::map<std::string, std::size_t> sizes{{"F32", 4}, {"F64", 8}, {"F16", 2}, {"BF16", 2},
                                                 {"I64", 8}, {"I32", 4}, {"BOOL", 1}};
  const auto wanted = numbers(size_of(*model), 12);
  model->write(wanted);
  std::map<std::string, NamedTensor> state;
  for (auto& tensor : model->adapter().state()) {
    std::size_t bytes = sizes.at(tensor.dtype);
    for (const auto extent : tensor.shape) bytes *= static_cast<std::size_t>(extent);
    EXPECT_EQ(tensor.bytes.size(), bytes) << tensor.name;
    EXPECT_TRUE(state.emplace(tensor.name, tensor).second) << tensor.name;
  }
  for (const auto& slot : model->adapter().parameters()) {
    ASSERT_TRUE(state.contains(slot.name)) << slot.name;
    EXPECT_EQ(state[slot.name].shape, slot.shape);
    EXPECT_EQ(state[slot.name].dtype, name(slot.type));
  }
}

TEST_P(AdapterContract, WritingAStateBackRestoresTheModel) {
  const auto model = GetParam().make();
  const auto wanted = numbers(size_of(*model), 13);
  model->write(wanted);
  std::vector<std::vector<std::byte>> saved;
  for (const auto& tensor : model->adapter().state()) {
    saved.emplace_back(tensor.bytes.begin(), tensor.bytes.end());
  }
  model->write(numbers(size_of(*model), 14));
  auto state = model->adapter().state();
  ASSERT_EQ(state.size(), saved.size());
  for (std::size_t i = 0; i < state.size(); ++i) {
    std::ranges::copy(saved[i], state[i].bytes.begin());
  }
  EXPECT_EQ(model->read(), wanted);
  EXPECT_EQ(pulled(*model), wanted);
}

}  // namespace fast::testing
