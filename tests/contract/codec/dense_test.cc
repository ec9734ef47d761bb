#include "tests/contract/codec/codec_contract.h"

namespace stencil {

INSTANTIATE_TEST_SUITE_P(Dense, CodecContract, ::testing::ValuesIn(test::kCodecCases),
                         [](const auto& info) { return test::codec_name(info.param.kind); });

}  // namespace stencil
