#pragma once

#include <exception>
#include <new>
#include <string>

namespace fast {

/// What to tell people of an error that ends something: what(), and for lack of memory, whose
/// what() is the name of a type, cause and remedy. Throws std::bad_alloc where there is not even
/// memory for the text.
[[nodiscard]] inline std::string error_text(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) == nullptr) return error.what();
  return "out of memory; use a smaller model, batch, data set or topology, or raise the limit "
         "(ulimit -v, or the container's)";
}

}  // namespace fast
