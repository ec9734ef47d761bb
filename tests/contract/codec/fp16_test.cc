#include "stencil/codec/fp16_codec.h"
#include "tests/contract/codec/codec_contract.h"

namespace stencil {

INSTANTIATE_TEST_SUITE_P(Fp16, CodecContract,
                         ::testing::Values(CodecCase{"fp16",
                                                     [] { return std::make_unique<Fp16Codec>(); },
                                                     0x1p-11, 0x1p-25, 65504.0F}));

}  // namespace stencil
