#include "bench/compare/report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/compare/report/ceiling.h"

namespace fast::compare {
namespace {

bool same_row(const Cell& a, const Cell& b) {
  return a.condition.name == b.condition.name && a.strategy.name == b.strategy.name &&
         a.strategy.sweeps == b.strategy.sweeps && a.strategy.codec == b.strategy.codec &&
         a.strategy.learning_rate == b.strategy.learning_rate;
}

/// y at x on the curve of points (x, y); its last value beyond its end, nothing before its start.
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

Row make_row(const std::vector<const Finished*>& seeds) {
  Row row;
  row.cell = seeds.front()->cell;
  row.seeds = static_cast<int>(seeds.size());
  std::vector<const CellResult*> good;
  std::vector<double> accuracy, worst, seconds, bytes, pace;
  for (const Finished* one : seeds) {
    const CellResult& r = one->result;
    row.cells.push_back(CellStore::file_name(one->cell));
    row.diverged += r.diverged ? 1 : 0;
    row.failed += r.failure.empty() ? 0 : 1;
    if (r.diverged || !r.failure.empty()) continue;
    good.push_back(&r);
    if (r.mean_model) accuracy.push_back(*r.mean_model);
    if (!r.workers.empty()) worst.push_back(*std::ranges::min_element(r.workers));
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

std::string percent(const std::optional<Spread>& s) {
  if (!s) return "–";
  if (s->count < 2) return fmt::format("{:.2f}", 100 * s->mean);
  return fmt::format("{:.2f} ± {:.2f}", 100 * s->mean, 100 * s->deviation);
}

std::string percent(const std::optional<double>& v) {
  return v ? fmt::format("{:.1f}", 100 * *v) : "–";
}

std::string outcome(const Row& row) {
  if (row.diverged > 0) return fmt::format(" ({} of {} diverged)", row.diverged, row.seeds);
  if (row.failed > 0) return fmt::format(" ({} of {} failed)", row.failed, row.seeds);
  return "";
}

std::string label(const Row& row) {
  const Strategy& s = row.cell.strategy;
  std::string out = s.name;
  if (s.name.starts_with("stencil-") && s.sweeps != 1) out += fmt::format(", {} sweeps", s.sweeps);
  if (s.codec != "fp32") out += ", " + s.codec;
  return out;
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

std::vector<Group> make_groups(const std::vector<Finished>& finished) {
  std::vector<Group> groups;
  std::vector<const Finished*> left;
  for (const Finished& one : finished) left.push_back(&one);
  while (!left.empty()) {
    Group group;
    group.condition = left.front()->cell.condition;
    std::vector<const Finished*> mine, others;
    for (const Finished* one : left) {
      (one->cell.condition.name == group.condition.name ? mine : others).push_back(one);
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
    group.ceiling = speedup_ceiling(mine.front()->cell, mine.front()->result.model_bytes);
    groups.push_back(std::move(group));
  }
  return groups;
}

std::optional<double> speedup(const Group& group, const Row& row) {
  const bool learns = row.cell.time != TimeKind::kStandIn;
  for (const Row& base : group.rows) {
    if (base.cell.strategy.name != "allreduce" || &base == &row) continue;
    if (learns && base.seconds_to_target && row.seconds_to_target) {
      return base.seconds_to_target->mean / row.seconds_to_target->mean;
    }
    if (!learns && base.samples_per_second && row.samples_per_second) {
      return row.samples_per_second->mean / base.samples_per_second->mean;
    }
  }
  return std::nullopt;
}

namespace {

std::string number(const std::optional<Spread>& s, double scale, int digits) {
  return s ? fmt::format("{:.{}f}", s->mean * scale, digits) : std::string("–");
}

std::string learning_rows(const Group& group) {
  std::string out = fmt::format(
      "| strategy | rate | seeds | mean model % | worst worker % | training s | s to {:.1f} % | "
      "vs all-reduce | % at equal time | % at equal bytes | kB / sample | consensus |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|---|\n",
      100 * group.target);
  for (const Row& row : group.rows) {
    const auto ratio = speedup(group, row);
    out += fmt::format(
        "| {}{} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {:.1e} |\n", label(row),
        outcome(row), row.cell.strategy.learning_rate, row.seeds, percent(row.accuracy),
        percent(row.worst), number(row.seconds, 1, 1), number(row.seconds_to_target, 1, 1),
        ratio ? fmt::format("{:.2f}x", *ratio) : "–", percent(row.at_equal_time),
        percent(row.at_equal_bytes), number(row.bytes_per_sample, 1e-3, 1), row.consensus);
  }
  return out;
}

std::string waiting_rows(const Group& group) {
  std::string out =
      "| strategy | ms per step | samples / s | vs all-reduce | kB / sample |\n"
      "|---|---|---|---|---|\n";
  for (const Row& row : group.rows) {
    const auto ratio = speedup(group, row);
    const double round = static_cast<double>(row.cell.workers()) * row.cell.job.batch;
    out += fmt::format(
        "| {}{} | {} | {} | {} | {} |\n", label(row), outcome(row),
        row.samples_per_second ? fmt::format("{:.0f}", 1e3 * round / row.samples_per_second->mean)
                               : "–",
        number(row.samples_per_second, 1, 1), ratio ? fmt::format("{:.2f}x", *ratio) : "–",
        number(row.bytes_per_sample, 1e-3, 1));
  }
  return out;
}

}  // namespace

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

namespace {

/// "virtual beside real", the difference in per cent or points.
std::string check_rows(const std::vector<Check>& checks) {
  std::string out =
      "### The virtual clock beside the real one\n\n"
      "| strategy | topology | real s | virtual s | difference | mean model %, real | virtual |\n"
      "|---|---|---|---|---|---|---|\n";
  for (const auto& [real, modelled] : checks) {
    const bool timed = real->seconds && modelled->seconds && real->seconds->mean > 0;
    out += fmt::format(
        "| {} | {} | {} | {} | {} | {} | {} |\n", label(*real), real->cell.condition.topology,
        number(real->seconds, 1, 1), number(modelled->seconds, 1, 1),
        timed ? fmt::format("{:+.1f} %", 100 * (modelled->seconds->mean / real->seconds->mean - 1))
              : "–",
        percent(real->accuracy), percent(modelled->accuracy));
  }
  return out + "\n";
}

}  // namespace

std::string to_markdown(const std::vector<Group>& groups) {
  std::string out;
  for (const Group& group : groups) {
    const Cell& first = group.rows.front().cell;
    const bool learns = first.time != TimeKind::kStandIn;
    out += fmt::format("### {} ({}, {} on {} workers, {} time)\n\n", group.condition.name,
                       first.job.model, group.condition.topology, first.workers(),
                       learns ? name(first.time) : "waits for computing, real");
    out += learns ? learning_rows(group) : waiting_rows(group);
    if (group.ceiling) {
      out += fmt::format(
          "\nModelled ceiling of a speed-up over all-reduce (step time, bytes, rate): "
          "{:.2f}x.\n",
          *group.ceiling);
    }
    out += "\n";
  }
  if (const auto pairs = checks(groups); !pairs.empty()) out += check_rows(pairs);
  return out;
}

std::string to_csv(const std::vector<Group>& groups) {
  std::string out =
      "condition,topology,workers,time,strategy,sweeps,codec,learning_rate,seeds,diverged,failed,"
      "accuracy,accuracy_deviation,worst_worker,training_seconds,target,seconds_to_target,"
      "ceiling,samples_per_second,bytes_per_sample,consensus\n";
  const auto field = [](const std::optional<Spread>& s) {
    return s ? fmt::format("{}", s->mean) : std::string();
  };
  for (const Group& group : groups) {
    for (const Row& row : group.rows) {
      const Strategy& s = row.cell.strategy;
      out += fmt::format(
          "\"{}\",{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n",
          group.condition.name, group.condition.topology, row.cell.workers(), name(row.cell.time),
          s.name, s.sweeps, s.codec, s.learning_rate, row.seeds, row.diverged, row.failed,
          field(row.accuracy), row.accuracy ? fmt::format("{}", row.accuracy->deviation) : "",
          field(row.worst), field(row.seconds), group.target, field(row.seconds_to_target),
          group.ceiling ? fmt::format("{}", *group.ceiling) : "", field(row.samples_per_second),
          field(row.bytes_per_sample), row.consensus);
    }
  }
  return out;
}

}  // namespace fast::compare
