#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace fast {

/// What an .npy file says of its array (versions 1 to 3 of NumPy's format, see
/// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html).
struct NpyHeader {
  char kind = 'f';        ///< 'f': number, 'i' and 'u': integer, 'b': truth value
  std::size_t width = 4;  ///< bytes of an element
  std::vector<std::int64_t> shape{};
  std::size_t data_at = 0;  ///< where in the file the elements begin

  [[nodiscard]] std::size_t elements() const;
  /// "float32", as NumPy calls it.
  [[nodiscard]] std::string type() const;
};

/// As many bytes of a file's beginning are enough for parse_npy_header().
inline constexpr std::size_t kNpyHeaderMost = 65536;

/// `beginning`: of the file, which has `file_size` bytes. Pure. Throws DataError, naming `file`,
/// for what is no .npy file, for Fortran order, big-endian elements and types without a use as
/// data, and where the file holds more or fewer elements than it says.
[[nodiscard]] NpyHeader parse_npy_header(std::span<const std::uint8_t> beginning,
                                         std::size_t file_size, const std::string& file);

}  // namespace fast
