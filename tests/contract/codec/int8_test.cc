#include "stencil/codec/int_codec.h"
#include "tests/contract/codec/codec_contract.h"

namespace stencil {

INSTANTIATE_TEST_SUITE_P(Int8, CodecContract,
                         ::testing::Values(CodecCase{
                             "int8", [] { return std::make_unique<IntCodec>(CodecKind::kInt8); },
                             0x1p-6, 0x1p-126, 127 * 0x1p121F, IntCodec::kBlock}));

}  // namespace stencil
