#include "stencil/codec/int_codec.h"
#include "tests/contract/codec/codec_contract.h"

namespace stencil {

INSTANTIATE_TEST_SUITE_P(Int4, CodecContract,
                         ::testing::Values(CodecCase{
                             "int4", [] { return std::make_unique<IntCodec>(CodecKind::kInt4); },
                             0x1p-2, 0x1p-126, 7 * 0x1p125F, IntCodec::kBlock}));

}  // namespace stencil
