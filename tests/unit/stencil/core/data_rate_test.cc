#include "stencil/core/data_rate.h"

#include <gtest/gtest.h>

namespace stencil {
namespace {

TEST(DataRate, is_read_as_people_write_it) {
  EXPECT_EQ(parse_rate("2Mbit/s"), 250'000);
  EXPECT_EQ(parse_rate("64 kbit/s"), 8'000);
  EXPECT_EQ(parse_rate("800bit/s"), 100);
  EXPECT_EQ(parse_rate("1.5MB/s"), 1'500'000);
  EXPECT_EQ(parse_rate("2KiB/s"), 2048);
  EXPECT_EQ(parse_rate("0"), 0);
  for (const char* const bad : {"", "2", "2Mbit", "2MB", "-2Mbit/s", "0Mbit/s", "1bit/s", "fast",
                                "2Mbit/h", "2Mbits/s", "nan/s", "/s", "bit/s", "2Mbit/s "}) {
    EXPECT_EQ(parse_rate(bad), std::nullopt) << bad;
  }
}

TEST(DataAllowance, is_read_as_people_write_it) {
  EXPECT_EQ(parse_allowance("2GB/day")->bytes, 2'000'000'000U);
  EXPECT_EQ(parse_allowance("2GB/day")->seconds, 86400);
  EXPECT_EQ(parse_allowance("500 MB/hour")->seconds, 3600);
  EXPECT_EQ(parse_allowance("1GiB/week")->seconds, 7 * 86400);
  EXPECT_EQ(parse_allowance("1GB/month")->seconds, 30 * 86400);
  EXPECT_EQ(parse_allowance("0")->bytes, 0U);
  for (const char* const bad : {"", "2GB", "0GB/day", "-1GB/day", "2GB/year", "2GB/", "/day",
                                "2GB/day ", "2Gbit/day", "much"}) {
    EXPECT_FALSE(parse_allowance(bad).has_value()) << bad;
  }
}

}  // namespace
}  // namespace stencil
