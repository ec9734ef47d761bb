#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "stencil/core/payload.h"
#include "stencil/engine/input.h"

namespace stencil {

/// Records the last part of an engine's life: its configuration and state at one moment, and from
/// then on each input with its time and a hash of what was decided, so that replay() can play it
/// again. It holds no values of a model: of a payload it notes only whether there was one.
///
/// Two parts are kept, each of which begins with the state of its moment. When the newer one is
/// full, the older one is dropped, and a new one begins. So a recording always has a beginning, and
/// memory is bounded. One thread.
///
///     file    = "FASTJRN2" config(EngineConfig) made(int64 ns) size(uint32) state(size)
///     hash(uint64)
///               record*
///     record  = size(uint32, of the rest) time(int64 ns) input(kind, fields) hash(uint64)
class Journal final : public Witness {
 public:
  /// What is kept at least, if there was so much: inputs of the last `time`, in at most `bytes`.
  struct Keep {
    Duration time = Duration::max();  ///< twice as much at most
    std::size_t bytes = std::size_t{64} << 20;
  };
  Journal() : Journal(Keep{}) {}
  explicit Journal(Keep keep) : keep_(keep) {}

  void began(TimePoint now, const Engine& engine) override;
  void saw(TimePoint now, const Input& input, std::span<const Action> decided) override;

  [[nodiscard]] Bytes file() const;
  /// Bytes of memory that hold it.
  [[nodiscard]] std::size_t held() const { return older_.bytes.size() + newer_.bytes.size(); }
  /// Of the file.
  [[nodiscard]] std::uint64_t inputs() const { return older_.inputs + newer_.inputs; }
  /// Whether the file begins when the engine was made.
  [[nodiscard]] bool whole() const { return parts_ <= 2; }

 private:
  struct Part {
    Bytes bytes;
    std::size_t records = 0;  ///< where they begin
    TimePoint begun{};
    std::uint64_t inputs = 0;
  };
  /// Reserves memory for the whole part, which the system gives when it is written.
  void begin_part(TimePoint now);

  Keep keep_;
  const Engine* engine_ = nullptr;
  TimePoint made_{};
  Part older_, newer_;
  std::uint64_t parts_ = 0;
  Bytes decided_;  ///< kept for its memory
};

namespace journal {

inline constexpr std::string_view kMagic = "FASTJRN2";

/// A hash of all that a runtime acts on in `decided`: no texts. `memory` is overwritten.
[[nodiscard]] std::uint64_t hash_of(std::span<const Action> decided, Bytes& memory);

/// What the configuration and the state that a journal begins with, all before it, are followed by:
/// the complement of their hash, which a fuzzer cannot copy from what is compared. An engine is
/// only given a state that belongs to its configuration.
[[nodiscard]] std::uint64_t mark_of(std::span<const std::byte> beginning);

}  // namespace journal
}  // namespace stencil
