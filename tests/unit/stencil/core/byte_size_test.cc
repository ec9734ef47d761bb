#include "stencil/core/byte_size.h"

#include <gtest/gtest.h>

namespace stencil {
namespace {

TEST(ByteSize, IsReadWithItsUnit) {
  EXPECT_EQ(parse_bytes("0"), 0U);
  EXPECT_EQ(parse_bytes("4096"), 4096U);
  EXPECT_EQ(parse_bytes("64MB"), 64'000'000U);
  EXPECT_EQ(parse_bytes("64 mb"), 64'000'000U);
  EXPECT_EQ(parse_bytes("1.5kB"), 1500U);
  EXPECT_EQ(parse_bytes("2GiB"), 2UL << 30);
  EXPECT_EQ(parse_bytes("3KiB"), 3072U);
}

TEST(ByteSize, WhatIsNoneIsNotRead) {
  for (const char* text :
       {"", "MB", "-1", "64 M B", "64TB", "64MBit", "nan", "inf", "1e400", "x", "99999999999GB"}) {
    EXPECT_EQ(parse_bytes(text), std::nullopt) << text;
  }
}

TEST(ByteSize, IsWrittenRoundedUpSoThatReadAgainItIsEnough) {
  EXPECT_EQ(bytes_text(999), "999");
  EXPECT_EQ(bytes_text(1000), "1kB");
  EXPECT_EQ(bytes_text(1001), "1.1kB");
  EXPECT_EQ(bytes_text(64'000'000), "64MB");
  EXPECT_EQ(bytes_text(2'340'000'000), "2.4GB");
  for (std::uint64_t bytes = 1; bytes < 1ULL << 50; bytes = bytes * 3 + 1) {
    EXPECT_GE(parse_bytes(bytes_text(bytes)), bytes);
  }
}

}  // namespace
}  // namespace stencil
