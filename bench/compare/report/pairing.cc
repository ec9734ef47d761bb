#include "bench/compare/report/pairing.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <tuple>

#include "bench/compare/virtual/virtual_run.h"

namespace fast::compare {
namespace {

struct Pair {
  RunEnd ours, theirs;
};

struct Paired {
  std::string label, partition;
  TimeKind time = TimeKind::kReal;
  std::vector<Pair> pairs;
};

/// Identifies an all-reduce run, whatever its clock.
auto identity(const RunEnd& run) {
  return std::tie(run.seed, run.accuracy, run.loss);
}

std::vector<Pair>& like(const Row& row, std::vector<Paired>& all) {
  const std::string& partition = row.cell.condition.partition;
  const auto known = std::ranges::find_if(all, [&](const Paired& paired) {
    return paired.label == row.label && paired.partition == partition &&
           paired.time == row.cell.time;
  });
  if (known != all.end()) return known->pairs;
  all.push_back({row.label, partition, row.cell.time, {}});
  return all.back().pairs;
}

std::vector<Paired> all_pairs(const std::vector<Group>& groups) {
  std::vector<Paired> all;
  for (const Group& group : groups) {
    const auto base = std::ranges::find_if(
        group.rows, [](const Row& row) { return row.cell.strategy.name == "allreduce"; });
    if (base == group.rows.end()) continue;
    for (const Row& row : group.rows) {
      if (row.cell.job.epochs != base->cell.job.epochs) continue;
      if (hash(timeless(row.cell)) == hash(timeless(base->cell))) continue;  // the same, reclocked
      for (const RunEnd& ours : row.ends) {
        const auto theirs = std::ranges::find(base->ends, ours.seed, &RunEnd::seed);
        if (theirs == base->ends.end()) continue;
        like(row, all).push_back({ours, *theirs});
      }
    }
  }
  return all;
}

template <typename Figure>
Difference difference(const std::vector<Pair>& pairs, Figure figure) {
  const auto n = static_cast<double>(pairs.size());
  const auto apart = [&](const Pair& pair) {
    return std::invoke(figure, pair.ours) - std::invoke(figure, pair.theirs);
  };
  Difference d;
  for (const Pair& pair : pairs) d.mean += apart(pair) / n;
  std::map<std::tuple<std::uint64_t, double, double>, double> residuals;  // by all-reduce run
  for (const Pair& pair : pairs) {
    residuals[identity(pair.theirs)] += apart(pair) - d.mean;
  }
  double squares = 0;
  for (const auto& [run, sum] : residuals) squares += sum * sum;
  const auto runs = static_cast<double>(residuals.size());
  d.error = std::sqrt(runs / (runs - 1) * squares) / n;
  return d;
}

std::optional<Pairing::Unseen> unseen(const std::vector<Pair>& pairs) {
  const bool known = std::ranges::all_of(
      pairs, [](const Pair& pair) { return pair.ours.unseen && pair.theirs.unseen; });
  if (!known) return std::nullopt;
  return Pairing::Unseen{
      .accuracy = difference(pairs, [](const RunEnd& run) { return run.unseen->accuracy; }),
      .loss = difference(pairs, [](const RunEnd& run) { return run.unseen->loss; })};
}

bool beside_one_run(const std::vector<Pair>& pairs) {
  return std::ranges::all_of(pairs, [&](const Pair& pair) {
    return identity(pair.theirs) == identity(pairs.front().theirs);
  });
}

}  // namespace

std::vector<Pairing> pairings(const std::vector<Group>& groups) {
  std::vector<Pairing> out;
  for (const auto& [label, partition, time, pairs] : all_pairs(groups)) {
    if (beside_one_run(pairs)) continue;
    out.push_back({.label = label,
                   .partition = partition,
                   .time = time,
                   .pairs = static_cast<int>(pairs.size()),
                   .accuracy = difference(pairs, &RunEnd::accuracy),
                   .worst = difference(pairs, &RunEnd::worst),
                   .held_out = difference(pairs, &RunEnd::held_out),
                   .loss = difference(pairs, &RunEnd::loss),
                   .unseen = unseen(pairs)});
  }
  return out;
}

}  // namespace fast::compare
