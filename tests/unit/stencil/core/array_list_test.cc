#include "stencil/core/array_list.h"

#include <gtest/gtest.h>

namespace stencil {
namespace {

const ArrayList kSome({"conv.weight F32 [8, 3]", "fc.weight F32 [10, 64]", "fc.bias F32 [10]"});

TEST(ArrayList, TheFirstArrayThatDiffersIsNamed) {
  const ArrayList others({"conv.weight F32 [8, 3]", "fc.weight F32 [11, 64]", "fc.bias F32 [11]"});
  EXPECT_EQ(kSome.first_difference(others.marks()),
            "the first array that differs is number 2 of 3 here, fc.weight F32 [10, 64]");
  EXPECT_EQ(others.first_difference(kSome.marks()),
            "the first array that differs is number 2 of 3 here, fc.weight F32 [11, 64]");
}

TEST(ArrayList, AnotherOrderAndAnotherLengthAreDifferences) {
  const ArrayList less({"conv.weight F32 [8, 3]", "fc.weight F32 [10, 64]"});
  EXPECT_EQ(kSome.first_difference(less.marks()),
            "the first array that differs is number 3 of 3 here, fc.bias F32 [10]");
  EXPECT_EQ(less.first_difference(kSome.marks()), "theirs has arrays after the last of the 2 here");
  const ArrayList turned({"fc.weight F32 [10, 64]", "conv.weight F32 [8, 3]", "fc.bias F32 [10]"});
  EXPECT_EQ(kSome.first_difference(turned.marks()),
            "the first array that differs is number 1 of 3 here, conv.weight F32 [8, 3]");
}

TEST(ArrayList, EqualListsDoNotDiffer) {
  EXPECT_EQ(kSome.first_difference(kSome.marks()), "");
  EXPECT_EQ(ArrayList().first_difference(""), "");
}

TEST(ArrayList, ManyArraysAreComparedUpToABound) {
  std::vector<std::string> many(2 * ArrayList::kMostMarks, "weight");
  EXPECT_EQ(ArrayList(many).marks().size(), 2 * ArrayList::kMostMarks);
  many.back() = "bias";
  EXPECT_EQ(ArrayList(many).first_difference(ArrayList(many).marks()), "");
}

// A stranger may send anything.
TEST(ArrayList, MarksOfHalfAnArrayAreADifference) {
  const std::string marks = kSome.marks();
  EXPECT_EQ(kSome.first_difference(std::string_view(marks).substr(0, 3)),
            "the first array that differs is number 2 of 3 here, fc.weight F32 [10, 64]");
}

}  // namespace
}  // namespace stencil
