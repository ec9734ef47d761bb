#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stencil/codec/codec.h"
#include "stencil/core/layout.h"
#include "stencil/core/mode.h"
#include "stencil/mix/edge_codec.h"

namespace stencil {

/// One codec that a run can be configured with. To add one: a file pair here or in codec/ and a
/// line in kinds.cc. Options, messages, help texts, the contract suites and the benches use this
/// list.
struct CodecKind {
  CodecNumber number = kExact;
  std::string_view name;  ///< "fp16"; "topk" where a parameter follows it

  /// Codes every value or difference of a bucket; null for kinds that have no Codec.
  std::unique_ptr<const Codec> (*dense)() = nullptr;
  /// How whole models are pulled in mode sync: the number of a dense codec.
  CodecNumber values = kExact;
  bool in_lock_step = true;  ///< may be used in mode sync

  /// What travels on one edge; null: DenseEdgeCodec of `values` and `dense`.
  std::unique_ptr<EdgeCodec> (*edge)(const CodecSpec& spec, const Layout& layout,
                                     std::span<const float> initial) = nullptr;
  /// Bytes that such an edge keeps; null: none worth counting.
  std::size_t (*kept)(const Layout& layout) = nullptr;

  // Of a codec with a parameter.
  std::string_view form = {};   ///< "topk:F"
  std::string_view range = {};  ///< "0 < F <= 0.5, e.g. topk:0.01"
  /// Returns nothing where the text is not a valid parameter.
  std::optional<std::uint32_t> (*parse)(std::string_view parameter) = nullptr;
  std::string (*print)(std::uint32_t parameter) = nullptr;
};

/// All kinds, in the order of help texts. kExact is the first.
[[nodiscard]] std::span<const CodecKind> codec_kinds();

/// The Codec of a number; null where there is none.
[[nodiscard]] std::unique_ptr<const Codec> make_codec(CodecNumber number);

/// What travels on one edge of a run with this codec. `initial` is the model that both ends hold.
[[nodiscard]] std::unique_ptr<EdgeCodec> make_edge_codec(const CodecSpec& spec,
                                                         const Layout& layout,
                                                         std::span<const float> initial);

/// Bytes that it keeps.
[[nodiscard]] std::size_t edge_codec_bytes(const CodecSpec& spec, const Layout& layout);

/// How whole models are pulled in mode sync, see CodecKind::values.
[[nodiscard]] CodecNumber pulled_as(const CodecSpec& spec);

/// The codec as --codec takes it: "fp16", "topk:0.01"; "codec 77" for one that this build does not
/// know.
[[nodiscard]] std::string name(const CodecSpec& spec);

/// "fp32", "fp16", .., "topk:": how the names of codecs begin.
[[nodiscard]] std::vector<std::string> codec_choices();

/// "fp32, fp16, .., topk:F": what parse_codec() takes.
[[nodiscard]] std::string codec_forms();

/// Throws ConfigError that lists the forms.
[[nodiscard]] CodecSpec parse_codec(std::string_view text);

/// Throws ConfigError where `mode` cannot use `codec`.
void check_codec(const CodecSpec& codec, const Mode& mode);

}  // namespace stencil
