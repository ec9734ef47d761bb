#pragma once

#include <string_view>

#include "fast/data/dataset.h"

namespace fast {

/// Text, or bytes of any kind, to be foretold: "FILE" or "FILE,LENGTH". An example is a window of
/// LENGTH bytes (default 128), int64 of 0 to 255, and its targets are the bytes that follow each.
/// Windows do not overlap; the last tenth of the file is the test set. They stay in the file, and
/// what a batch needs is read from there. Throws ConfigError for a length that is none, DataError
/// for a file that is missing or too short for two windows.
[[nodiscard]] Dataset load_text(std::string_view arguments);

/// The same without keeping the file open.
[[nodiscard]] ExampleSpec text_spec(std::string_view arguments);

}  // namespace fast
