#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include "fast/train/learner.h"

namespace fast::testing {

/// One kind of learner with its adapter, made afresh for each test.
struct LearnerCase {
  std::string name;
  LearnerOptions options;  ///< examples, seed and learning rate are set by the suite
  std::function<std::unique_ptr<Learner>(const LearnerOptions&)> make;
  ExampleSpec examples = ImageShape{3, 16, 16, 4};  ///< of four classes
};

/// The contract of every learner, in learner_contract.cc. Instantiate it in a file of its own:
///   INSTANTIATE_TEST_SUITE_P(Flat, LearnerContract, ::testing::Values(...), case_name);
class LearnerContract : public ::testing::TestWithParam<LearnerCase> {
 protected:
  [[nodiscard]] static LearnerOptions options(std::uint64_t seed = 3);
  [[nodiscard]] static std::unique_ptr<Learner> make(std::uint64_t seed = 3);
};

inline void PrintTo(const LearnerCase& kind, std::ostream* out) {
  *out << kind.name;
}

inline std::string case_name(const ::testing::TestParamInfo<LearnerCase>& info) {
  return info.param.name;
}

}  // namespace fast::testing
