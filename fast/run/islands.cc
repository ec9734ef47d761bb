#include "fast/run/islands.h"

#include <algorithm>
#include <map>
#include <utility>

namespace fast {
namespace {

/// Sets of ranks that are merged, one pair at a time (union-find).
class Groups {
 public:
  explicit Groups(std::span<const int> ranks) {
    for (const int rank : ranks) parent_[rank] = rank;
  }
  [[nodiscard]] bool contains(int rank) const { return parent_.contains(rank); }
  void merge(int a, int b) { parent_[root(a)] = root(b); }
  int root(int rank) {
    while (parent_[rank] != rank) rank = parent_[rank] = parent_[parent_[rank]];
    return rank;
  }

 private:
  std::map<int, int> parent_;
};

/// A neighbour that left had ended in good order, so its final model had met this one.
bool in_use(const NeighbourProgress& neighbour) {
  return neighbour.sweeps > 0 && (neighbour.link == "up" || neighbour.link == "left");
}

}  // namespace

std::vector<std::vector<int>> islands(const RunRecords& records, std::span<const int> ranks) {
  Groups groups(ranks);
  bool any_edges = false;
  for (const WorkerRecords& worker : records.workers) {
    if (worker.history.progress.empty()) continue;
    for (const NeighbourProgress& neighbour : worker.history.progress.back().neighbours) {
      any_edges = true;
      if (in_use(neighbour) && groups.contains(worker.rank) && groups.contains(neighbour.rank)) {
        groups.merge(worker.rank, neighbour.rank);
      }
    }
  }
  if (!any_edges || records.start().mode == "sync") {
    for (const int rank : ranks) groups.merge(rank, ranks.front());
  }
  std::map<int, std::vector<int>> by_root;
  for (const int rank : ranks) by_root[groups.root(rank)].push_back(rank);
  std::vector<std::vector<int>> out;
  for (auto& [root, members] : by_root) {
    std::ranges::sort(members);
    out.push_back(std::move(members));
  }
  std::ranges::sort(out, [](const auto& a, const auto& b) {
    return std::pair(b.size(), a.front()) < std::pair(a.size(), b.front());
  });
  return out;
}

}  // namespace fast
