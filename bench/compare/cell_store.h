#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "bench/compare/cell.h"
#include "bench/compare/cell_result.h"

namespace fast::compare {

/// Finished cells: a file COMPARISON.jsonl for each comparison, in it a line of JSON for each cell,
/// ordered by the cells' names. Where a file came together from two machines, lines may stand in
/// any order, and twice: the first counts. A line that does not hold exactly the cell of its name
/// (a collision, an edited or damaged line) is ignored, and so is one whose result was not
/// evaluated on as many unseen examples as the cell asks for. Several threads and processes may use
/// one folder.
class CellStore {
 public:
  /// New cells are kept in `folder`; they are looked for there and then in `others`.
  explicit CellStore(std::filesystem::path folder, std::vector<std::filesystem::path> others = {});
  /// Whichever comparison it was made for. Throws FileError for a result that cannot be read.
  [[nodiscard]] std::optional<CellResult> find(const Cell& cell) const;
  /// The same; otherwise the result of a cell that differs only in its clockwork, the first by
  /// name. For cells that learn the same under any clock.
  [[nodiscard]] std::optional<CellResult> find_by_any_clock(const Cell& cell) const;
  /// Replaces what the comparison's file holds of this cell. Throws FileError.
  void keep(const std::string& comparison, const Cell& cell, const CellResult& result) const;
  /// "STRATEGY-seedN-HASH"
  [[nodiscard]] static std::string name(const Cell& cell);

 private:
  std::vector<std::filesystem::path> folders_;  ///< the first is the one for new cells
};

}  // namespace fast::compare
