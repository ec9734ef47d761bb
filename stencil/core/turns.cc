#include "stencil/core/turns.h"

#include <algorithm>
#include <utility>

namespace stencil {
namespace {

/// Paths tried for one edge. In dense graphs few paths help, and one more colour costs little.
constexpr int kPaths = 16;

class Colouring {
 public:
  explicit Colouring(const Topology& topology) : rows_(static_cast<std::size_t>(topology.size())) {
    for (Rank rank = 0; rank < topology.size(); ++rank) {
      colours_ = std::max(colours_, topology.neighbours(rank).size());
    }
    for (auto& row : rows_) row.assign(colours_, kNoRank);
    for (Rank u = 0; u < topology.size(); ++u) {
      for (const Rank v : topology.neighbours(u)) {
        if (u < v) add(u, v);
      }
    }
  }
  [[nodiscard]] std::size_t colours() const { return colours_; }
  [[nodiscard]] const std::vector<std::vector<Rank>>& rows() const { return rows_; }

 private:
  Rank& at(Rank rank, std::size_t colour) { return rows_[static_cast<std::size_t>(rank)][colour]; }
  bool is_free(Rank rank, std::size_t colour) { return at(rank, colour) == kNoRank; }
  void join(Rank u, Rank v, std::size_t colour) {
    at(u, colour) = v;
    at(v, colour) = u;
  }

  void add(Rank u, Rank v) {
    for (std::size_t c = 0; c < colours_; ++c) {
      if (is_free(u, c) && is_free(v, c)) return join(u, v, c);
    }
    int paths = 0;
    for (std::size_t a = 0; a < colours_; ++a) {
      if (!is_free(u, a)) continue;
      for (std::size_t b = 0; b < colours_ && paths < kPaths; ++b) {
        if (!is_free(v, b)) continue;
        if (make_free(v, a, b, u)) return join(u, v, a);
        ++paths;
      }
    }
    for (auto& row : rows_) row.push_back(kNoRank);
    join(u, v, colours_++);
  }

  /// Changes a for b and b for a on the path from `v`, where b is free, unless it ends at `u`.
  bool make_free(Rank v, std::size_t a, std::size_t b, Rank u) {
    path_.assign(1, v);
    for (std::size_t c = a; !is_free(path_.back(), c); c = a + b - c) {
      path_.push_back(at(path_.back(), c));
    }
    if (path_.back() == u) return false;
    for (std::size_t i = 0; i + 1 < path_.size(); ++i) {
      const std::size_t c = i % 2 == 0 ? a : b;
      at(path_[i], c) = at(path_[i + 1], c) = kNoRank;
    }
    for (std::size_t i = 0; i + 1 < path_.size(); ++i) {
      join(path_[i], path_[i + 1], i % 2 == 0 ? b : a);
    }
    return true;
  }

  std::size_t colours_ = 0;
  std::vector<std::vector<Rank>> rows_;
  std::vector<Rank> path_;
};

}  // namespace

Turns::Turns(const Topology& topology) {
  const Colouring colouring(topology);
  count_ = colouring.colours();
  auto partners = std::make_shared<std::vector<Rank>>();
  partners->reserve(colouring.rows().size() * count_);
  for (const auto& row : colouring.rows()) {
    partners->insert(partners->end(), row.begin(), row.end());
  }
  partners_ = std::move(partners);
}

}  // namespace stencil
