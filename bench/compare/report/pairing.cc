#include "bench/compare/report/pairing.h"

#include <algorithm>
#include <cmath>

namespace fast::compare {
namespace {

struct Differences {
  std::string label;
  std::vector<double> accuracy, worst, loss;
};

Differences& of(const std::string& label, std::vector<Differences>& all) {
  const auto known = std::ranges::find(all, label, &Differences::label);
  if (known != all.end()) return *known;
  all.emplace_back().label = label;
  return all.back();
}

}  // namespace

std::vector<Pairing> pairings(const std::vector<Group>& groups) {
  std::vector<Differences> all;
  for (const Group& group : groups) {
    const auto base = std::ranges::find_if(
        group.rows, [](const Row& row) { return row.cell.strategy.name == "allreduce"; });
    if (base == group.rows.end()) continue;
    for (const Row& row : group.rows) {
      if (&row == &*base || row.cell.job.epochs != base->cell.job.epochs) continue;
      for (const RunEnd& ours : row.ends) {
        const auto theirs = std::ranges::find(base->ends, ours.seed, &RunEnd::seed);
        if (theirs == base->ends.end()) continue;
        Differences& d = of(row.label, all);
        d.accuracy.push_back(ours.accuracy - theirs->accuracy);
        d.worst.push_back(ours.worst - theirs->worst);
        d.loss.push_back(ours.loss - theirs->loss);
      }
    }
  }
  std::vector<Pairing> out;
  for (const Differences& d : all) {
    if (d.accuracy.size() < 2) continue;
    out.push_back({d.label, spread_of(d.accuracy), spread_of(d.worst), spread_of(d.loss)});
  }
  return out;
}

double standard_error(const Spread& spread) {
  return spread.deviation / std::sqrt(spread.count);
}

}  // namespace fast::compare
