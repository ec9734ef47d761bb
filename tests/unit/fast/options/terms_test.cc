#include "fast/options/terms.h"

#include <gtest/gtest.h>

namespace fast {
namespace {

RunLength length_of(const SessionOptions& options) {
  return RunLength(stencil::value_of(more_terms(options), kBudgetTerm));
}

TEST(RunLength, IsReadAsItsTermWasWritten) {
  SessionOptions options;
  EXPECT_EQ(length_of(options).amount, 0) << "no end";
  options.budget = 4000;
  EXPECT_EQ(length_of(options).amount, 4000);
  EXPECT_TRUE(length_of(options).in_samples());
  options.epochs = 2.5;
  EXPECT_EQ(length_of(options).amount, 2.5);
  EXPECT_FALSE(length_of(options).in_samples());
}

TEST(RunLength, IsLongerByMoreOfTheSameUnitThanWhatHasAnEnd) {
  EXPECT_TRUE(RunLength("4000 samples").is_longer_than(RunLength("3999 samples")));
  EXPECT_FALSE(RunLength("4000 samples").is_longer_than(RunLength("4000 samples")));
  EXPECT_FALSE(RunLength("4000 samples").is_longer_than(RunLength("2.5 epochs")));
  EXPECT_FALSE(RunLength("4000 samples").is_longer_than(RunLength("0 samples")));
}

}  // namespace
}  // namespace fast
