#include "fast/programs/launch/error_lines.h"

#include <gmock/gmock.h>

namespace fast {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ErrorLinesTest : public ::testing::Test {
 protected:
  std::vector<std::string> said_;
  ErrorLines lines_{3, [this](const std::string& line) { said_.push_back(line); }};
};

TEST_F(ErrorLinesTest, AnErrorIsSaidWhenItsLineIsWhole) {
  lines_.add(2, "2026-01-02 03:04:05.678 worker 2 error: no check");
  lines_.add(1, "2026-01-02 03:04:05.678 worker 1 error: other\n");
  EXPECT_THAT(said_, ElementsAre("worker 1: other"));
  lines_.add(2, "point: disk full\n");
  EXPECT_THAT(said_, ElementsAre("worker 1: other", "worker 2: no checkpoint: disk full"));
}

TEST_F(ErrorLinesTest, TheLastLineNeedsNoEnd) {
  lines_.add(0, "2026-01-02 03:04:05.678 worker 0 error: the end");
  lines_.add(0, "");
  EXPECT_THAT(said_, ElementsAre("worker 0: the end"));
}

TEST_F(ErrorLinesTest, OtherLinesAreInTheLog) {
  lines_.add(0, "2026-01-02 03:04:05.678 worker 0 warning: slow\nanything\n\n");
  lines_.add(0, std::string(2 * ErrorLines::kLongest, 'x') + "\n");
  EXPECT_THAT(said_, IsEmpty());
}

}  // namespace
}  // namespace fast
