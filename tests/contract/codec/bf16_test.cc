#include "stencil/codec/bf16_codec.h"
#include "tests/contract/codec/codec_contract.h"

namespace stencil {

INSTANTIATE_TEST_SUITE_P(Bf16, CodecContract,
                         ::testing::Values(CodecCase{"bf16",
                                                     [] { return std::make_unique<Bf16Codec>(); },
                                                     0x1p-8, 0x1p-134, 0x1.fep127F}));

}  // namespace stencil
