#include "stencil/core/text.h"

#include <gtest/gtest.h>

#include <array>
#include <string_view>

namespace stencil {
namespace {

constexpr std::array<std::string_view, 4> kFlags = {"--mode", "--model", "--topology", "--out"};

TEST(Nearest, LettersThatChangedPlacesAreOneMistake) {
  EXPECT_EQ(nearest("--modle", kFlags), "--model");
  EXPECT_EQ(nearest("--topolgoy", kFlags), "--topology");
}

TEST(Nearest, OneLetterTooFewOrTooManyIsFound) {
  EXPECT_EQ(nearest("--mod", kFlags), "--mode");
  EXPECT_EQ(nearest("--oout", kFlags), "--out");
  EXPECT_EQ(nearest("--topolgy", kFlags), "--topology");
}

TEST(Nearest, WhatIsFarFromAllIsLeftAlone) {
  EXPECT_EQ(nearest("--learning-rate", kFlags), "");
  EXPECT_EQ(suggestion("x", kFlags), "");
}

}  // namespace
}  // namespace stencil
