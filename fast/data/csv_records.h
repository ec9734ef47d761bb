#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace fast {

/// One record of a CSV file (RFC 4180): its fields, with quotes resolved.
struct CsvRecord {
  std::vector<std::string> fields;
  std::size_t bytes = 0;  ///< that it takes, with the end of its last line
  std::size_t lines = 0;  ///< that it takes: more than one where a quoted field has line ends
};

/// Why bytes are no record, for people.
class CsvError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Reads the record with which `text` begins into `out`, whose memory it reuses. `last`: nothing
/// follows `text`. Lines end with \n or \r\n. False: the record goes on behind `text`, which only
/// happens where it is not the last. Throws CsvError, why it is none, for a quote in a field that
/// has none around it, for what follows a closing quote, and for a quoted field without an end.
bool read_csv_record(std::span<const std::uint8_t> text, bool last, CsvRecord& out);

}  // namespace fast
