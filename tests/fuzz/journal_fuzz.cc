// A recording is played again or refused, whatever the file holds.
#include <cstddef>
#include <cstdint>
#include <span>

#include "stencil/runtime/replay.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::size_t words = 0;
  const auto told = [&](const stencil::Replayed& replayed) {
    words += stencil::in_words(replayed.input).size();
    for (const stencil::Action& action : replayed.decided)
      words += stencil::in_words(action).size();
  };
  (void)stencil::replay(std::as_bytes(std::span(data, size)), told);
  return words == SIZE_MAX ? 1 : 0;
}
