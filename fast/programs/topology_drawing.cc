#include <fmt/format.h>

#include <algorithm>

#include "fast/programs/topology_command.h"

namespace fast {
namespace {

/// Ranks in rows and columns.
class Drawing {
 public:
  Drawing(const stencil::Topology& topology, int rows, int columns)
      : topology_(topology), rows_(rows), columns_(columns) {
    digits_ = static_cast<int>(std::to_string(topology.size() - 1).size());
  }

  [[nodiscard]] int width() const { return columns_ * (digits_ + 4) + 6; }

  [[nodiscard]] std::string text() const {
    std::string out;
    const bool wraps = rows_ > 2 && edge(0, 0, rows_ - 1, 0);
    if (wraps) out += verticals(0, rows_ - 1);
    for (int row = 0; row < rows_; ++row) {
      out += line(row);
      if (row + 1 < rows_) out += verticals(row, row + 1);
    }
    if (wraps) out += verticals(rows_ - 1, 0);
    return out;
  }

 private:
  [[nodiscard]] bool edge(int row_a, int column_a, int row_b, int column_b) const {
    return topology_.are_neighbours(row_a * columns_ + column_a, row_b * columns_ + column_b);
  }
  [[nodiscard]] std::string line(int row) const {
    const bool wraps = columns_ > 2 && edge(row, 0, row, columns_ - 1);
    std::string out = wraps ? "  --" : "    ";
    for (int column = 0; column < columns_; ++column) {
      out += fmt::format(" {:>{}} ", row * columns_ + column, digits_);
      if (column + 1 < columns_) out += edge(row, column, row, column + 1) ? "--" : "  ";
    }
    if (wraps) out += "--";
    out.erase(out.find_last_not_of(' ') + 1);
    return out + '\n';
  }
  [[nodiscard]] std::string verticals(int from, int to) const {
    std::string out = "    ";
    for (int column = 0; column < columns_; ++column) {
      out += fmt::format(" {:>{}}   ", edge(from, column, to, column) ? "|" : "", digits_);
    }
    out.erase(out.find_last_not_of(' ') + 1);
    return out + '\n';
  }

  const stencil::Topology& topology_;
  int rows_, columns_;
  int digits_ = 1;
};

}  // namespace

std::string draw(const stencil::Topology& topology) {
  constexpr int kMaxWidth = 100, kMaxRows = 32;
  const std::vector<int>& shape = topology.shape();
  if (!topology.has_directions() || shape.size() > 2) return "";
  const int rows = shape.size() == 2 ? shape[0] : 1;
  const Drawing drawing(topology, rows, shape.back());
  return rows <= kMaxRows && drawing.width() <= kMaxWidth ? drawing.text() : "";
}

}  // namespace fast
