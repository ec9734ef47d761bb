#pragma once

#include <cstdint>
#include <string>

namespace fast::format {

/// Numbers formatted for people. All functions are pure; "-" for values that are not finite.
[[nodiscard]] std::string count(double value);    ///< "12,345,678"
[[nodiscard]] std::string bytes(double value);    ///< "1.2 GB" (decimal units)
[[nodiscard]] std::string seconds(double value);  ///< "4.2 s", "3m 05s", "2h 07m"
[[nodiscard]] std::string percent(double fraction, int digits = 2);  ///< "71.30 %"
[[nodiscard]] std::string fixed(double value, int digits);
[[nodiscard]] std::string small(double value);  ///< "3.1e-04"

/// Columns that `text` takes on a terminal: code points, escape sequences not counted.
[[nodiscard]] std::size_t width(const std::string& text);
/// Cut to at most `columns`, escape sequences kept; ends with a reset where it holds any.
[[nodiscard]] std::string cut(const std::string& text, std::size_t columns);
/// Padded with spaces to `columns`; longer text is unchanged.
[[nodiscard]] std::string left(const std::string& text, std::size_t columns);
[[nodiscard]] std::string right(const std::string& text, std::size_t columns);

}  // namespace fast::format
