#include "tests/contract/codec/codec_contract.h"

namespace stencil {

INSTANTIATE_TEST_SUITE_P(Dense, CodecContract, ::testing::ValuesIn(test::kCodecCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(DenseCodecs, HaveALineInTheListOfCases) {
  for (const CodecSpec& codec : test::dense_codecs()) {
    EXPECT_EQ(test::codec_case(codec).name, name(codec));
  }
}

}  // namespace stencil
