#include "fast/error_text.h"

#include <gmock/gmock.h>

#include <stdexcept>

namespace fast {
namespace {

TEST(ErrorText, LackOfMemoryIsNamedWithTheRemedy) {
  EXPECT_THAT(error_text(std::bad_alloc()),
              ::testing::AllOf(::testing::HasSubstr("out of memory; use a smaller model"),
                               ::testing::HasSubstr("ulimit -v")));
  EXPECT_EQ(error_text(std::runtime_error("the cause; the remedy")), "the cause; the remedy");
}

}  // namespace
}  // namespace fast
