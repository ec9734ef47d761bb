#include "fast/programs/launch/prefixed_lines.h"

#include <gtest/gtest.h>

#include <sstream>

namespace fast {
namespace {

TEST(PrefixedLinesTest, WholeLinesAreWrittenWithTheirRank) {
  std::ostringstream out;
  PrefixedLines lines(out, 3);
  lines.add(2, "one\ntw");
  lines.add(0, "zero\n\n");
  EXPECT_EQ(out.str(), "[2] one\n[0] zero\n[0] \n");
  lines.add(2, "o\n");
  EXPECT_EQ(out.str(), "[2] one\n[0] zero\n[0] \n[2] two\n");
}

TEST(PrefixedLinesTest, ACarriageReturnEndsALineToo) {
  std::ostringstream out;
  PrefixedLines lines(out, 1);
  lines.add(0, "10 %\r20 %\r");
  EXPECT_EQ(out.str(), "[0] 10 %\n");
  lines.add(0, "\n30 %\r\n");
  EXPECT_EQ(out.str(), "[0] 10 %\n[0] 20 %\n[0] 30 %\n");
}

TEST(PrefixedLinesTest, ACarriageReturnBeforeALineIsNoLine) {
  std::ostringstream out;
  PrefixedLines lines(out, 1);
  lines.add(0, "\r10 %\r20 %\n");
  EXPECT_EQ(out.str(), "[0] 10 %\n[0] 20 %\n");
}

TEST(PrefixedLinesTest, AnEmptyTextEndsTheLastLine) {
  std::ostringstream out;
  PrefixedLines lines(out, 1);
  lines.add(0, "");
  lines.add(0, "killed in mid-se");
  lines.add(0, "");
  EXPECT_EQ(out.str(), "[0] killed in mid-se\n");
}

TEST(PrefixedLinesTest, ALineWithoutEndIsBroken) {
  std::ostringstream out;
  PrefixedLines lines(out, 1);
  lines.add(0, std::string(PrefixedLines::kLongest + 1, 'x'));
  EXPECT_EQ(out.str(), "[0] " + std::string(PrefixedLines::kLongest, 'x') + "\n");
}

}  // namespace
}  // namespace fast
