#include "bench/compare/report/report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "bench/compare/report/embedded.h"
#include "bench/compare/report/pairing.h"
#include "bench/compare/report/rendering.h"
#include "fast/report/embedded.h"
#include "fast/report/page_template.h"
#include "fast/run/atomic_file.h"
#include "fast/run/json.h"

namespace fast::compare {
namespace {

using nlohmann::ordered_json;

ordered_json json_number(const std::optional<double>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json json_number(const std::optional<Spread>& s) {
  if (!s) return nullptr;
  return {{"mean", s->mean}, {"deviation", s->deviation}, {"count", s->count}};
}

/// The fields that distinguish a row from others of its condition.
ordered_json strategy_json(const Row& row) {
  const Strategy& s = row.cell.strategy;
  return {{"label", row.label},
          {"strategy", s.name},
          {"learning_rate", s.learning_rate},
          {"exchange", s.exchange},
          {"momentum_correction", s.momentum_correction},
          {"buffers", s.buffers}};
}

ordered_json row_json(const Row& row) {
  ordered_json curve = ordered_json::array();
  for (std::size_t i = 0; i < row.curve.size(); ++i) {
    const CurvePoint& p = row.curve[i];
    curve.push_back({{"samples", p.samples},
                     {"seconds", p.seconds},
                     {"bytes", p.bytes},
                     {"accuracy", p.accuracy},
                     {"deviation", row.curve_deviation[i]},
                     {"loss", p.loss},
                     {"consensus", p.consensus}});
  }
  ordered_json out = strategy_json(row);
  out.update({{"epochs", row.cell.job.epochs},
              {"seeds", row.seeds},
              {"diverged", row.diverged},
              {"failed", row.failed},
              {"lost", row.lost},
              {"accuracy", json_number(row.accuracy)},
              {"unseen", json_number(row.unseen)},
              {"worst_worker", json_number(row.worst)},
              {"seconds", json_number(row.seconds)},
              {"seconds_to_target", json_number(row.seconds_to_target)},
              {"samples_per_second", json_number(row.samples_per_second)},
              {"bytes_per_sample", json_number(row.bytes_per_sample)},
              {"at_equal_time", json_number(row.at_equal_time)},
              {"at_equal_bytes", json_number(row.at_equal_bytes)},
              {"cells", row.cells},
              {"samples", row.samples},
              {"consensus", row.consensus},
              {"curve", curve}});
  return out;
}

ordered_json check_json(const Check& check) {
  const auto side = [](const Row& row) -> ordered_json {
    return {{"seconds", json_number(row.seconds)}, {"accuracy", json_number(row.accuracy)}};
  };
  ordered_json out = strategy_json(*check.real);
  out.update({{"condition", check.real->cell.condition.name},
              {"topology", check.real->cell.condition.topology},
              {"real", side(*check.real)},
              {"virtual", side(*check.modelled)}});
  return out;
}

ordered_json pairing_json(const Pairing& pairing) {
  const auto difference = [](const Difference& d) -> ordered_json {
    return {{"mean", d.mean}, {"standard_error", d.error}};
  };
  ordered_json unseen = nullptr;
  if (pairing.unseen) {
    unseen = {{"accuracy", difference(pairing.unseen->accuracy)},
              {"loss", difference(pairing.unseen->loss)}};
  }
  return {{"label", pairing.label},
          {"partition", pairing.partition},
          {"time", name(pairing.time)},
          {"pairs", pairing.pairs},
          {"accuracy", difference(pairing.accuracy)},
          {"worst_worker", difference(pairing.worst)},
          {"held_out", difference(pairing.held_out)},
          {"loss", difference(pairing.loss)},
          {"unseen", std::move(unseen)}};
}

/// The versions and machines that computed the cells.
std::vector<std::string> makers(const std::vector<Finished>& finished) {
  std::set<std::string> out;
  for (const Finished& one : finished) {
    out.insert(fmt::format("FAST {} on {}", one.result.version, one.result.machine));
  }
  return {out.begin(), out.end()};
}

ordered_json all_json(const std::vector<Finished>& finished, const std::vector<Group>& groups,
                      const Circumstances& c) {
  ordered_json out = {
      {"name", c.name},         {"command", c.command},   {"made_by", makers(finished)},
      {"question", c.question}, {"tuned_by", c.tuned_by}, {"groups", ordered_json::array()}};
  for (const Group& group : groups) {
    const Cell& first = group.rows.front().cell;
    ordered_json slow = ordered_json::object();
    for (const auto& [rank, factor] : group.condition.slow) slow[std::to_string(rank)] = factor;
    ordered_json g = {{"condition", group.condition.name},
                      {"topology", group.condition.topology},
                      {"partition", group.condition.partition},
                      {"slow", slow},
                      {"away", group.condition.away.size()},
                      {"link_mbit", group.condition.link_mbit},
                      {"workers", group.workers()},
                      {"time", name(first.time)},
                      {"model", first.job.model},
                      {"data", first.job.data},
                      {"examples", first.job.examples},
                      {"epochs", first.job.epochs},
                      {"batch", first.job.batch},
                      {"target", group.target},
                      {"ceiling", json_number(group.ceiling)},
                      {"rows", ordered_json::array()}};
    for (const Row& row : group.rows) g["rows"].push_back(row_json(row));
    out["groups"].push_back(std::move(g));
  }
  out["beside_allreduce"] = ordered_json::array();
  for (const Pairing& pairing : pairings(groups)) {
    out["beside_allreduce"].push_back(pairing_json(pairing));
  }
  out["checks"] = ordered_json::array();
  for (const Check& check : checks(groups)) out["checks"].push_back(check_json(check));
  return out;
}

}  // namespace

void write_comparison(const std::vector<Finished>& finished, const Circumstances& circumstances,
                      const std::filesystem::path& folder) {
  make_writable_folder(folder);
  const std::vector<Group> groups = make_groups(finished);
  const ordered_json all = all_json(finished, groups, circumstances);
  write_atomically(folder / "results.json", all.dump(1) + "\n");
  write_atomically(folder / "results.csv", to_csv(groups));
  write_atomically(folder / "table.md", to_markdown(groups));
  write_atomically(
      folder / "report.html",
      filled(embedded::kCompareHtml,
             {{"TITLE", html_escaped(circumstances.name)},
              {"CSS", std::string(fast::embedded::kReportCss) + std::string(embedded::kCompareCss)},
              {"CHART", std::string(fast::embedded::kChartJs)},
              {"COMMON", std::string(fast::embedded::kCommonJs)},
              {"JS", std::string(embedded::kCompareJs)},
              {"DATA", script_safe(all.dump())}}));
}

}  // namespace fast::compare
