#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "bench/compare/cell.h"
#include "bench/compare/cell_result.h"

namespace fast::compare {

/// Finished cells, one small JSON file each, named by strategy, seed and hash. A file that does not
/// hold exactly this cell (a collision, an edited file) is ignored, and so is one whose result was
/// not evaluated on as many unseen examples as the cell asks for.
class CellStore {
 public:
  /// New cells are kept in `folder`; they are looked for there and then in `others`.
  explicit CellStore(std::filesystem::path folder, std::vector<std::filesystem::path> others = {});
  [[nodiscard]] std::optional<CellResult> find(const Cell& cell) const;
  /// The same; otherwise the result of a cell that differs only in its clockwork, the first by
  /// name. For cells that learn the same under any clock.
  [[nodiscard]] std::optional<CellResult> find_by_any_clock(const Cell& cell) const;
  void keep(const Cell& cell, const CellResult& result) const;
  [[nodiscard]] static std::string file_name(const Cell& cell);

 private:
  /// "STRATEGY-seedN-", the beginning of file names.
  [[nodiscard]] static std::string stem(const Cell& cell);
  std::vector<std::filesystem::path> folders_;  ///< the first is the one for new cells
};

}  // namespace fast::compare
