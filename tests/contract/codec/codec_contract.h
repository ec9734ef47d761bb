#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "stencil/codec/codec.h"

namespace stencil {

/// What a codec must say of itself to be held to the contract.
struct CodecCase {
  std::string label;
  std::function<std::unique_ptr<Codec>()> make;
  /// Bounds of |decode(encode(x)) - x|: relative for large values, absolute for tiny ones.
  double relative_error;
  double absolute_error;
  float largest;  ///< the largest value that survives; greater ones become it
  /// How many neighbours share a scale; the relative error is of the largest magnitude among them.
  std::size_t block = 1;
};

void PrintTo(const CodecCase& codec, std::ostream* out);

/// The contract of codec.h. A codec opts in by INSTANTIATE_TEST_SUITE_P in a file of its own.
class CodecContract : public ::testing::TestWithParam<CodecCase> {};

}  // namespace stencil
