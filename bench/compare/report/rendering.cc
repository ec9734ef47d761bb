#include "bench/compare/report/rendering.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/compare/report/pairing.h"
#include "stencil/core/option_checks.h"
#include "stencil/runtime/exchange_option_fields.h"

namespace fast::compare {
namespace {

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
  if (row.lost > 0) return fmt::format(" ({} worker{} lost)", row.lost, row.lost > 1 ? "s" : "");
  return "";
}

std::string number(const std::optional<Spread>& s, double scale, int digits) {
  return s ? fmt::format("{:.{}f}", s->mean * scale, digits) : std::string("–");
}

/// Milliseconds per step over all workers, as if they were in step.
std::string step_milliseconds(const Row& row) {
  const double round = static_cast<double>(row.cell.workers()) * row.cell.job.batch;
  return row.samples_per_second ? fmt::format("{:.1f}", 1e3 * round / row.samples_per_second->mean)
                                : "–";
}

std::string learning_rows(const Group& group) {
  const bool unseen = std::ranges::any_of(group.rows, [](auto& r) { return r.unseen.has_value(); });
  std::string out = fmt::format(
      "| strategy | rate | seeds | mean model % |{} worst worker % | ms per step | training s | "
      "s to {:.1f} % | vs all-reduce | % at equal time | % at equal bytes | kB / sample | "
      "consensus |\n|---|---|---|---|{}---|---|---|---|---|---|---|---|---|\n",
      unseen ? " on unseen examples % |" : "", 100 * group.target, unseen ? "---|" : "");
  for (const Row& row : group.rows) {
    const auto ratio = speedup(group, row);
    out += fmt::format(
        "| {}{} | {} | {} | {} |{} {} | {} | {} | {} | {} | {} | {} | {} | {:.1e} |\n", row.label,
        outcome(row), row.cell.strategy.learning_rate, row.seeds, percent(row.accuracy),
        unseen ? fmt::format(" {} |", percent(row.unseen)) : "", percent(row.worst),
        step_milliseconds(row), number(row.seconds, 1, 1), number(row.seconds_to_target, 1, 1),
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
    out += fmt::format("| {}{} | {} | {} | {} | {} |\n", row.label, outcome(row),
                       step_milliseconds(row), number(row.samples_per_second, 1, 1),
                       ratio ? fmt::format("{:.2f}x", *ratio) : "–",
                       number(row.bytes_per_sample, 1e-3, 1));
  }
  return out;
}

/// "-0.33 ± 0.19": a mean and its standard error.
std::string mean_and_error(const Difference& d, double scale, int digits) {
  return fmt::format("{:+.{}f} ± {:.{}f}", scale * d.mean, digits, scale * d.error, digits);
}

std::string paired_rows(const std::vector<Pairing>& pairings) {
  std::string out =
      "### Beside all-reduce, conditions together\n\n"
      "Differences to the all-reduce of the same condition and seed, after as many samples; mean ± "
      "standard error.\n\n"
      "| strategy | shards | time | pairs | mean model, points | worst worker, points | "
      "on held-out examples, points | loss on them |";
  const bool unseen = std::ranges::any_of(pairings, [](auto& p) { return p.unseen.has_value(); });
  if (unseen) out += " on unseen examples, points | loss on those |";
  out += "\n|---|---|---|---|---|---|---|---|";
  out += unseen ? "---|---|\n" : "\n";
  for (const Pairing& p : pairings) {
    out +=
        fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |", p.label, p.partition, name(p.time),
                    p.pairs, mean_and_error(p.accuracy, 100, 2), mean_and_error(p.worst, 100, 2),
                    mean_and_error(p.held_out, 100, 2), mean_and_error(p.loss, 1, 3));
    if (p.unseen) {
      out += fmt::format(" {} | {} |", mean_and_error(p.unseen->accuracy, 100, 2),
                         mean_and_error(p.unseen->loss, 1, 3));
    } else if (unseen) {
      out += " – | – |";
    }
    out += "\n";
  }
  return out + "\n";
}

/// "virtual beside real", the difference in per cent or points.
std::string check_rows(const std::vector<Check>& checks) {
  std::string out =
      "### The virtual clock beside the real one\n\n"
      "| strategy | topology | real s | virtual s | difference | mean model %, real | virtual |\n"
      "|---|---|---|---|---|---|---|\n";
  for (const auto& [real, modelled] : checks) {
    const bool timed = real->seconds && modelled->seconds && real->seconds->mean > 0;
    out += fmt::format(
        "| {} | {} | {} | {} | {} | {} | {} |\n", real->label, real->cell.condition.topology,
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
                       first.job.model, group.condition.topology, group.workers(),
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
  if (const auto paired = pairings(groups); !paired.empty()) out += paired_rows(paired);
  if (const auto pairs = checks(groups); !pairs.empty()) out += check_rows(pairs);
  return out;
}

std::string to_csv(const std::vector<Group>& groups) {
  std::string out = "condition,topology,workers,time,strategy,";
  const stencil::ExchangeOptions any;
  const auto add_name = [&out](const auto& field, const auto& /*value*/) {
    out += std::string(field.key) + ",";
  };
  visit_fields(any, add_name);
  out +=
      "momentum_correction,buffers,learning_rate,epochs,seeds,diverged,failed,accuracy,"
      "accuracy_deviation,unseen,worst_worker,training_seconds,target,seconds_to_target,ceiling,"
      "samples_per_second,bytes_per_sample,consensus\n";
  const auto mean = [](const std::optional<Spread>& s) {
    return s ? fmt::format("{}", s->mean) : std::string();
  };
  for (const Group& group : groups) {
    for (const Row& row : group.rows) {
      const Strategy& s = row.cell.strategy;
      out += fmt::format("\"{}\",{},{},{},{},", group.condition.name, group.condition.topology,
                         row.cell.workers(), name(row.cell.time), s.name);
      const auto add_value = [&out](const auto& /*field*/, const auto& value) {
        out += stencil::option_text(value) + ",";
      };
      visit_fields(s.exchange, add_value);
      out += fmt::format(
          "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", s.momentum_correction,
          s.buffers, s.learning_rate, row.cell.job.epochs, row.seeds, row.diverged, row.failed,
          mean(row.accuracy), row.accuracy ? fmt::format("{}", row.accuracy->deviation) : "",
          mean(row.unseen), mean(row.worst), mean(row.seconds), group.target,
          mean(row.seconds_to_target), group.ceiling ? fmt::format("{}", *group.ceiling) : "",
          mean(row.samples_per_second), mean(row.bytes_per_sample), row.consensus);
    }
  }
  return out;
}

}  // namespace fast::compare
