#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "stencil/codec/codec.h"
#include "tests/support/codec_cases.h"

namespace stencil {

/// The contract of codec.h, for each line of kCodecCases.
class CodecContract : public ::testing::TestWithParam<test::CodecCase> {
 protected:
  std::unique_ptr<const Codec> codec_ = make_codec(parse_codec(GetParam().name).number);
};

}  // namespace stencil
