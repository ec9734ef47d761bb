#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "fast/data/csv_records.h"

/// Bytes as records of a CSV file; the first byte is where they are cut into two pieces. What is
/// read must not depend on that.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::span<const std::uint8_t> text(data + 1, size - 1);
  fast::CsvRecord whole, piece;
  try {
    for (std::size_t at = 0; at < text.size(); at += whole.bytes) {
      const std::span<const std::uint8_t> rest = text.subspan(at);
      if (!fast::read_csv_record(rest, true, whole)) std::abort();
      if (whole.bytes == 0 || whole.bytes > rest.size() || whole.lines == 0) std::abort();
      const std::size_t cut = data[0] % (rest.size() + 1);
      if (fast::read_csv_record(rest.first(cut), false, piece) &&
          (piece.fields != whole.fields || piece.bytes != whole.bytes)) {
        std::abort();
      }
    }
  } catch (const fast::CsvError&) {
    return 0;
  }
  return 0;
}
