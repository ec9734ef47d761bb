#include "stencil/codec/fp16_codec.h"
#include "tests/contract/codec_contract.h"

namespace stencil {

namespace {

CodecCase fp16(const char* label, Fp16Path path) {
  return {label, [path] { return std::make_unique<Fp16Codec>(path); }, 0x1p-11, 0x1p-25, 65504.0F};
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Fp16, CodecContract,
                         ::testing::Values(fp16("best", Fp16Path::kBest),
                                           fp16("portable", Fp16Path::kPortable)));

}  // namespace stencil
