#include "fast/session/data_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace fast {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kUsed = "--data-cap 2MB/hour: 1.5MB are used in 30 minutes of the period; ";

/// A worker that has used 1.5 MB of 2 in half an hour.
class DataWatchTest : public ::testing::Test {
 protected:
  DataWatchTest() {
    options_.naming = stencil::as_flag;
    options_.exchange.data_cap = "2MB/hour";
    status_.data = {.bytes = 1'500'000, .seconds = 1800};
  }
  std::optional<std::string> look(double pace, bool rests = false) {
    status_.data_pace = pace;
    status_.rests = rests;
    return watch_.look(status_, options_);
  }

  SessionOptions options_;
  stencil::PumpStatus status_;
  DataWatch watch_;
};

TEST_F(DataWatchTest, WhoeverIsWithinItsAllowanceIsToldNothing) {
  EXPECT_EQ(look(1), std::nullopt);
  EXPECT_EQ(look(0.5), std::nullopt);
}

TEST_F(DataWatchTest, RarerSweepsAreALineOnceWithRemedies) {
  EXPECT_THAT(look(0.49).value_or(""), AllOf(StartsWith(kUsed), HasSubstr("averaged more rarely"),
                                             HasSubstr("--codec"), HasSubstr("--sweeps")));
  EXPECT_EQ(look(1), std::nullopt);
  EXPECT_EQ(look(0.1), std::nullopt);
}

TEST_F(DataWatchTest, EachRestAndItsEndAreALine) {
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(look(0, true).value_or(""), AllOf(StartsWith(kUsed), HasSubstr("trains alone"),
                                                  HasSubstr("show it as paused")));
    EXPECT_EQ(look(0, true), std::nullopt) << "a worker at rest averages nothing more rarely";
    EXPECT_EQ(look(1, false), std::string(kUsed) + "exchanges again");
    EXPECT_EQ(look(1, false), std::nullopt);
  }
  EXPECT_THAT(look(0.1).value_or(""), HasSubstr("averaged more rarely"));
}

}  // namespace
}  // namespace fast
