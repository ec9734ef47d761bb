#include "stencil/codec/codecs.h"

#include "stencil/codec/residue.h"

namespace stencil {

namespace {

CodecKind kind_of_values(CodecKind configured) {
  if (configured == CodecKind::kInt8 || configured == CodecKind::kInt4) return CodecKind::kFp16;
  return configured == CodecKind::kTopK ? CodecKind::kFp32 : configured;
}

}  // namespace

Codecs::Codecs(CodecSpec configured)
    : exact_(make_codec(CodecKind::kFp32)),
      values_(make_codec(kind_of_values(configured.kind))),
      differences_(
          make_codec(values_->kind() == CodecKind::kFp16 ? configured.kind : values_->kind())) {
  if (configured.kind == CodecKind::kTopK) top_k_.emplace(configured.share);
}

CodecKind Codecs::offered() const {
  if (top_k_) return CodecKind::kTopK;
  return differences_->kind() == CodecKind::kInt4 ? CodecKind::kInt4 : values_->kind();
}

std::size_t Codecs::offer_size(std::size_t floats) const {
  if (offered() == CodecKind::kInt4) return residue::size(floats);
  return top_k_ ? top_k_->offer_size(floats) : values_->encoded_size(floats);
}

std::size_t Codecs::reply_size(std::size_t floats) const {
  return top_k_ ? top_k_->reply_size(floats) : differences_->encoded_size(floats);
}

const Codec* Codecs::reader(MessageKind message, CodecKind kind) const {
  if (kind == exact_->kind()) return exact_.get();
  const Codec& coarse = message == MessageKind::kReply ? *differences_ : *values_;
  return kind == coarse.kind() ? &coarse : nullptr;
}

}  // namespace stencil
