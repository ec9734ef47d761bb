#include "stencil/codec/fp32_codec.h"

#include <limits>

#include "tests/contract/codec/codec_contract.h"

namespace stencil {

INSTANTIATE_TEST_SUITE_P(Fp32, CodecContract,
                         ::testing::Values(CodecCase{"fp32",
                                                     [] { return std::make_unique<Fp32Codec>(); },
                                                     0.0, 0.0, std::numeric_limits<float>::max()}));

}  // namespace stencil
