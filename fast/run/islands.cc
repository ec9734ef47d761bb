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

/// What the worker said at the end of its last life. One that made no step has the model of the
/// life before: a worker that was started again when all was done.
std::vector<const WorkerProgress*> last_words(const WorkerHistory& history) {
  std::vector<const WorkerProgress*> said;
  std::size_t end = history.progress.size();
  for (auto life = history.lives.rbegin(); life != history.lives.rend(); ++life) {
    if (life->first_progress < end) {
      said.push_back(&history.progress[end - 1]);
      if (said.back()->samples > 0) break;
    }
    end = life->first_progress;
  }
  return said;
}

}  // namespace

std::vector<std::vector<int>> islands(const RunRecords& records, std::span<const int> ranks) {
  Groups groups(ranks);
  bool any_edges = false;
  for (const WorkerRecords& worker : records.workers) {
    for (const WorkerProgress* const progress : last_words(worker.history)) {
      for (const NeighbourProgress& neighbour : progress->neighbours) {
        any_edges = true;
        if (in_use(neighbour) && groups.contains(worker.rank) && groups.contains(neighbour.rank)) {
          groups.merge(worker.rank, neighbour.rank);
        }
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
