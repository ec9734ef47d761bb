// Log lines about misbehaving peers: one for each cause, and no peer can use up the lines about
// another.
#include "stencil/runtime/complaints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace stencil {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ComplaintsTest : public testing::Test {
 protected:
  std::vector<std::string> said_;
  Complaints complaints_{[this](LogLevel level, std::string_view text) {
    EXPECT_EQ(level, LogLevel::kWarning);
    said_.emplace_back(text);
  }};
};

TEST_F(ComplaintsTest, each_cause_is_said_once_for_each_neighbour) {
  for (int i = 0; i < 3; ++i) {
    complaints_.about(4, "size", "a payload of no message");
    complaints_.about(5, "size", "a payload of no message");
    complaints_.about(4, "sender", "a wrong name");
  }
  EXPECT_THAT(said_, ElementsAre(HasSubstr("neighbour 4: a payload"), HasSubstr("neighbour 5: "),
                                 HasSubstr("neighbour 4: a wrong name")));
}

TEST_F(ComplaintsTest, strangers_without_end_silence_nobody_else_and_come_to_an_end) {
  for (int i = 0; i < 1000; ++i) {
    complaints_.about_stranger("rank " + std::to_string(i), "who are you?");
  }
  EXPECT_EQ(said_.size(), Complaints::kMost);
  EXPECT_THAT(said_.front(), HasSubstr("a stranger: who are you?"));
  EXPECT_THAT(said_.back(), HasSubstr("all else of it"));
  said_.clear();
  complaints_.about(3, "decode", "half a message");
  EXPECT_THAT(said_, ElementsAre(HasSubstr("neighbour 3: half a message")));
}

TEST_F(ComplaintsTest, a_neighbour_with_ever_new_faults_silences_only_itself) {
  for (int i = 0; i < 1000; ++i) complaints_.about(1, std::to_string(i), "again");
  EXPECT_EQ(said_.size(), Complaints::kMost);
  complaints_.about(2, "size", "once");
  complaints_.about_stranger("size", "once");
  EXPECT_EQ(said_.size(), Complaints::kMost + 2);
}

}  // namespace
}  // namespace stencil
