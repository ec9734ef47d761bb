#include "stencil/codec/codec.h"

#include <array>
#include <string>

#include "stencil/codec/fp16_codec.h"
#include "stencil/codec/fp32_codec.h"
#include "stencil/core/error.h"

namespace stencil {

namespace {

constexpr std::array kKinds = {CodecKind::kFp32, CodecKind::kFp16};

}  // namespace

std::unique_ptr<Codec> make_codec(CodecKind kind) {
  switch (kind) {
    case CodecKind::kFp32:
      return std::make_unique<Fp32Codec>();
    case CodecKind::kFp16:
      return std::make_unique<Fp16Codec>();
  }
  throw InvariantError("make_codec(" + std::to_string(static_cast<int>(kind)) + ")");
}

CodecKind parse_codec(std::string_view name) {
  std::string valid;
  for (const auto kind : kKinds) {
    const auto codec = make_codec(kind);
    if (codec->name() == name) return kind;
    valid += (valid.empty() ? "" : ", ") + std::string(codec->name());
  }
  throw ConfigError("codec '" + std::string(name) + "' is unknown", "choose one of " + valid);
}

}  // namespace stencil
