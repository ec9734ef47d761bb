#pragma once

#include <c10/util/Exception.h>

#include <string>
#include <string_view>

namespace fast {

/// What to do about an error of LibTorch's, by its first line.
[[nodiscard]] std::string_view libtorch_remedy(std::string_view line);

/// Throws a runtime_error of one line, with what to do: LibTorch adds pages of its own source and
/// of addresses.
[[noreturn]] void throw_plainly(const c10::Error& error);

/// Returns work(), whose errors of LibTorch's are thrown plainly.
template <typename Work>
auto with_plain_errors(Work work) {
  try {
    return work();
  } catch (const c10::Error& error) {
    throw_plainly(error);
  }
}

}  // namespace fast
