#include "stencil/codec/codecs.h"

namespace stencil {

Codecs::Codecs(CodecKind configured)
    : exact_(make_codec(CodecKind::kFp32)),
      values_(make_codec(configured == CodecKind::kInt8 ? CodecKind::kFp16 : configured)),
      differences_(make_codec(configured)) {}

const Codec* Codecs::reader(MessageKind message, CodecKind kind) const {
  if (kind == exact_->kind()) return exact_.get();
  const Codec& coarse = message == MessageKind::kReply ? *differences_ : *values_;
  return kind == coarse.kind() ? &coarse : nullptr;
}

}  // namespace stencil
