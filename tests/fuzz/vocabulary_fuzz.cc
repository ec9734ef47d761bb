#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>

#include "fast/data/vocabulary.h"
#include "fast/errors.h"

/// Up to the first zero byte a vocabulary, behind it a text.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::uint8_t> bytes(data, size);
  const auto cut =
      static_cast<std::size_t>(std::find(bytes.begin(), bytes.end(), 0) - bytes.begin());
  try {
    const auto vocabulary =
        fast::Vocabulary::parse({reinterpret_cast<const char*>(data), cut}, "fuzz");
    std::span<const std::uint8_t> text = bytes.subspan(std::min(cut + 1, size));
    while (!text.empty()) {
      const auto token = vocabulary.first(text);
      if (!token) return 0;
      const std::string_view found = vocabulary.token(token->number);
      if (found.size() != token->length ||
          !std::equal(found.begin(), found.end(), text.begin(),
                      [](char a, std::uint8_t b) { return static_cast<std::uint8_t>(a) == b; })) {
        std::abort();
      }
      text = text.subspan(token->length);
    }
  } catch (const fast::DataError&) {
    return 0;
  }
  return 0;
}
