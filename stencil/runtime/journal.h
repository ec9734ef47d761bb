#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "stencil/core/payload.h"
#include "stencil/engine/input.h"

namespace stencil {

/// Records an engine: its configuration, each input with its time, and a hash of what it decided,
/// so that replay() can play it again. It holds no values of a model: of a payload it notes only
/// whether there was one.
///
/// It records from the beginning, up to a number of bytes. An engine's state is what all its inputs
/// have made of it, so the end of a recording means nothing without its beginning: beyond that
/// number nothing more is recorded. Memory grows up to it. One thread.
///
///     file    = "FASTJRN1" config(EngineConfig) made(int64 ns) record*
///     record  = size(uint32, of the rest) time(int64 ns) input(kind, fields) hash(uint64)
class Journal final : public Witness {
 public:
  static constexpr std::size_t kMost = std::size_t{64} << 20;
  explicit Journal(std::size_t most = kMost) : most_(most) {}

  void began(TimePoint now, const EngineConfig& config) override;
  void saw(TimePoint now, const Input& input, std::span<const Action> decided) override;

  /// The file.
  [[nodiscard]] const Bytes& bytes() const { return bytes_; }
  [[nodiscard]] std::uint64_t inputs() const { return inputs_; }
  /// Whether inputs were left out at the end.
  [[nodiscard]] bool full() const { return full_; }

 private:
  std::size_t most_;
  Bytes bytes_;
  Bytes decided_;  ///< kept for its memory
  std::uint64_t inputs_ = 0;
  bool full_ = false;
};

namespace journal {

inline constexpr std::string_view kMagic = "FASTJRN1";

/// A hash of all that a runtime acts on in `decided`: no texts. `memory` is overwritten.
[[nodiscard]] std::uint64_t hash_of(std::span<const Action> decided, Bytes& memory);

}  // namespace journal
}  // namespace stencil
