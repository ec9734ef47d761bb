#include "stencil/codec/codec.h"

#include <string>

#include "stencil/codec/bf16_codec.h"
#include "stencil/codec/fp16_codec.h"
#include "stencil/codec/fp32_codec.h"
#include "stencil/codec/int_codec.h"
#include "stencil/core/error.h"

namespace stencil {

std::unique_ptr<Codec> make_codec(CodecKind kind) {
  switch (kind) {
    case CodecKind::kFp32:
      return std::make_unique<Fp32Codec>();
    case CodecKind::kFp16:
      return std::make_unique<Fp16Codec>();
    case CodecKind::kBf16:
      return std::make_unique<Bf16Codec>();
    case CodecKind::kInt8:
    case CodecKind::kInt4:
      return std::make_unique<IntCodec>(kind);
    case CodecKind::kTopK:
      break;
  }
  throw InvariantError("make_codec(" + std::to_string(static_cast<int>(kind)) + ")");
}

}  // namespace stencil
