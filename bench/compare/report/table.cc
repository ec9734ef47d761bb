#include "bench/compare/report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "bench/compare/cell_store.h"
#include "bench/compare/report/ceiling.h"
#include "bench/compare/spec.h"
#include "stencil/core/option_checks.h"
#include "stencil/core/topology.h"
#include "stencil/runtime/exchange_option_fields.h"

namespace fast::compare {
namespace {

/// Real and virtual time are never in one group, even under the same name.
bool same_group(const Cell& a, const Cell& b) {
  return a.condition.name == b.condition.name && a.time == b.time;
}

bool same_row(const Cell& a, const Cell& b) {
  return same_group(a, b) && a.job.epochs == b.job.epochs && a.strategy.name == b.strategy.name &&
         a.strategy.exchange == b.strategy.exchange &&
         a.strategy.momentum_correction == b.strategy.momentum_correction &&
         a.strategy.buffers == b.strategy.buffers &&
         a.strategy.learning_rate == b.strategy.learning_rate;
}

/// y at x on the curve of points (x, y): the last value after its end, nothing before its start.
template <typename X>
std::optional<double> accuracy_at(const std::vector<CurvePoint>& curve, double x, X x_of) {
  if (curve.empty() || x < x_of(curve.front())) return std::nullopt;
  for (std::size_t i = 1; i < curve.size(); ++i) {
    const double a = x_of(curve[i - 1]), b = x_of(curve[i]);
    if (x > b || b <= a) continue;
    return std::lerp(curve[i - 1].accuracy, curve[i].accuracy, (x - a) / (b - a));
  }
  return curve.back().accuracy;
}

void mean_curve(const std::vector<const CellResult*>& results, Row& row) {
  std::size_t points = SIZE_MAX;
  for (const CellResult* r : results) points = std::min(points, r->curve.size());
  const auto count = static_cast<double>(results.size());
  for (std::size_t i = 0; i < points; ++i) {
    CurvePoint mean;
    std::vector<double> accuracies;
    for (const CellResult* r : results) {
      const CurvePoint& p = r->curve[i];
      mean.samples += p.samples / count;
      mean.seconds += p.seconds / count;
      mean.bytes += p.bytes / count;
      mean.accuracy += p.accuracy / count;
      mean.loss += p.loss / count;
      mean.consensus += p.consensus / count;
      accuracies.push_back(p.accuracy);
    }
    row.curve.push_back(mean);
    row.curve_deviation.push_back(spread_of(accuracies).deviation);
  }
}

/// "linger 0", "codec int4": each option that differs from the usual one.
std::vector<std::string> differences(const stencil::ExchangeOptions& options,
                                     const stencil::ExchangeOptions& usual) {
  std::vector<std::string> usually, out;
  const auto list = [&usually](const auto& /*field*/, const auto& value) {
    usually.push_back(stencil::option_text(value));
  };
  visit_fields(usual, list);
  auto other = usually.begin();
  const auto compare = [&](const auto& field, const auto& value) {
    const std::string text = stencil::option_text(value);
    if (text == *other++) return;
    std::string name(field.key);
    std::ranges::replace(name, '_', ' ');
    out.push_back(name + " " + text);
  };
  visit_fields(options, compare);
  return out;
}

/// The strategy's name and its options that differ from the usual ones.
std::string text_of(const Cell& cell) {
  const Strategy& s = cell.strategy;
  Strategy usual = usual_strategy(s.name);
  choose_sweeps(usual, cell.condition.topology);
  std::string out = s.name;
  for (const std::string& difference : differences(s.exchange, usual.exchange)) {
    out += ", " + difference;
  }
  if (s.momentum_correction != usual.momentum_correction) {
    out += fmt::format(", correction {}", s.momentum_correction);
  }
  if (s.buffers != usual.buffers) out += ", statistics " + s.buffers;
  return out;
}

/// Names rows. Rates are added where rows of a group differ only in them, epochs where they differ
/// from those of the group's first row.
void name_rows(std::vector<Group>& groups) {
  std::map<std::string, std::set<double>> rates;
  for (const Group& group : groups) {
    for (const Row& row : group.rows) {
      rates[text_of(row.cell)].insert(row.cell.strategy.learning_rate);
    }
  }
  for (Group& group : groups) {
    const double epochs = group.rows.front().cell.job.epochs;
    for (Row& row : group.rows) {
      row.label = text_of(row.cell);
      if (rates[row.label].size() > 1) {
        row.label += fmt::format(", rate {}", row.cell.strategy.learning_rate);
      }
      if (row.cell.job.epochs != epochs) {
        row.label += fmt::format(", {} epochs", row.cell.job.epochs);
      }
    }
  }
}

Row make_row(const std::vector<const Finished*>& seeds) {
  Row row;
  row.cell = seeds.front()->cell;
  row.seeds = static_cast<int>(seeds.size());
  std::vector<const CellResult*> good;
  std::vector<double> accuracy, unseen, worst, seconds, bytes, pace;
  for (const Finished* one : seeds) {
    const CellResult& r = one->result;
    row.cells.push_back(CellStore::name(one->cell));
    row.diverged += r.diverged ? 1 : 0;
    row.failed += r.failure.empty() ? 0 : 1;
    row.lost += r.lost;
    if (r.diverged || !r.failure.empty()) continue;
    good.push_back(&r);
    if (r.mean_model) accuracy.push_back(*r.mean_model);
    if (r.unseen) unseen.push_back(r.unseen->accuracy);
    if (!r.workers.empty()) worst.push_back(*std::ranges::min_element(r.workers));
    if (r.mean_model && !r.workers.empty() && !r.curve.empty()) {
      row.ends.push_back({one->cell.seed, accuracy.back(), worst.back(), r.curve.back().accuracy,
                          r.curve.back().loss, r.unseen});
    }
    seconds.push_back(r.training_seconds);
    bytes.push_back(r.samples > 0 ? r.bytes / r.samples : 0);
    pace.push_back(r.training_seconds > 0 ? r.samples / r.training_seconds : 0);
    row.samples += r.samples;
    row.consensus += r.consensus;
  }
  if (good.empty()) return row;
  row.samples /= static_cast<double>(good.size());
  row.consensus /= static_cast<double>(good.size());
  if (!accuracy.empty()) row.accuracy = spread_of(accuracy);
  if (!unseen.empty()) row.unseen = spread_of(unseen);
  if (!worst.empty()) row.worst = spread_of(worst);
  row.seconds = spread_of(seconds);
  row.bytes_per_sample = spread_of(bytes);
  row.samples_per_second = spread_of(pace);
  mean_curve(good, row);
  return row;
}

void race(Group& group, const std::vector<const Finished*>& finished) {
  const auto last = [](const Row& row) {
    return row.curve.empty() ? 0.0 : row.curve.back().accuracy;
  };
  double goal = 0;
  for (const Row& row : group.rows) {
    if (row.cell.strategy.name == "allreduce") goal = std::max(goal, last(row));
  }
  if (goal == 0) {
    for (const Row& row : group.rows) goal = std::max(goal, last(row));
  }
  group.target = kTargetShare * goal;
  double shortest = INFINITY, leanest = INFINITY;
  for (const Row& row : group.rows) {
    if (row.curve.empty()) continue;
    shortest = std::min(shortest, row.curve.back().seconds);
    if (row.curve.back().bytes > 0) leanest = std::min(leanest, row.curve.back().bytes);
  }
  for (Row& row : group.rows) {
    std::vector<double> times;
    for (const Finished* one : finished) {
      if (!same_row(one->cell, row.cell)) continue;
      if (const auto t = seconds_until(one->result.curve, group.target)) times.push_back(*t);
    }
    if (!times.empty() && static_cast<int>(times.size()) == row.seeds) {
      row.seconds_to_target = spread_of(times);
    }
    row.at_equal_time = accuracy_at(row.curve, shortest, [](auto& p) { return p.seconds; });
    if (!row.curve.empty() && row.curve.back().bytes > 0) {
      row.at_equal_bytes = accuracy_at(row.curve, leanest, [](auto& p) { return p.bytes; });
    }
  }
}

}  // namespace

Spread spread_of(const std::vector<double>& values) {
  Spread s;
  s.count = static_cast<int>(values.size());
  for (const double v : values) s.mean += v / s.count;
  if (s.count < 2) return s;
  double sum = 0;
  for (const double v : values) sum += (v - s.mean) * (v - s.mean);
  s.deviation = std::sqrt(sum / (s.count - 1));
  return s;
}

std::optional<double> seconds_until(const std::vector<CurvePoint>& curve, double accuracy) {
  for (std::size_t i = 0; i < curve.size(); ++i) {
    if (curve[i].accuracy < accuracy) continue;
    if (i == 0) return curve[0].seconds;
    const CurvePoint &a = curve[i - 1], &b = curve[i];
    return std::lerp(a.seconds, b.seconds, (accuracy - a.accuracy) / (b.accuracy - a.accuracy));
  }
  return std::nullopt;
}

int Group::workers() const {
  return stencil::Topology::parse(condition.topology).size();
}

std::vector<Group> make_groups(const std::vector<Finished>& finished) {
  std::vector<Group> groups;
  std::vector<const Finished*> left;
  for (const Finished& one : finished) left.push_back(&one);
  while (!left.empty()) {
    Group group;
    group.condition = left.front()->cell.condition;
    std::vector<const Finished*> mine, others;
    for (const Finished* one : left) {
      (same_group(one->cell, left.front()->cell) ? mine : others).push_back(one);
    }
    left = others;
    std::vector<const Finished*> unplaced = mine;
    while (!unplaced.empty()) {
      std::vector<const Finished*> seeds, rest;
      for (const Finished* one : unplaced) {
        (same_row(one->cell, unplaced.front()->cell) ? seeds : rest).push_back(one);
      }
      group.rows.push_back(make_row(seeds));
      unplaced = rest;
    }
    race(group, mine);
    double model_bytes = 0;  // 0 where a run ended too early
    for (const Finished* one : mine) model_bytes = std::max(model_bytes, one->result.model_bytes);
    group.ceiling = speedup_ceiling(mine.front()->cell, model_bytes);
    groups.push_back(std::move(group));
  }
  name_rows(groups);
  return groups;
}

std::optional<double> speedup(const Group& group, const Row& row) {
  const bool learns = row.cell.time != TimeKind::kStandIn;
  const auto figure = [&](const Row& of) {
    return learns ? of.seconds_to_target : of.samples_per_second;
  };
  const auto base = std::ranges::find_if(group.rows, [&](const Row& other) {
    return other.cell.strategy.name == "allreduce" && figure(other);
  });
  if (base == group.rows.end() || &*base == &row || !figure(row)) return std::nullopt;
  const double ours = figure(row)->mean, theirs = figure(*base)->mean;
  return learns ? theirs / ours : ours / theirs;
}

std::vector<Check> checks(const std::vector<Group>& groups) {
  std::vector<Check> out;
  for (const Group& real : groups) {
    if (real.rows.front().cell.time != TimeKind::kReal) continue;
    for (const Group& modelled : groups) {
      for (const Row& theirs : modelled.rows) {
        Cell like = theirs.cell;
        if (like.time != TimeKind::kVirtual) break;
        like.condition.name = real.condition.name;
        like.time = TimeKind::kReal;
        for (const Row& ours : real.rows) {
          if (to_json(ours.cell) == to_json(like)) out.push_back({&ours, &theirs});
        }
      }
    }
  }
  return out;
}

}  // namespace fast::compare
