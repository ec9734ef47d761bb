#include "bench/compare/spec.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "adapters/torch/models/torch_learner.h"
#include "bench/compare/toml_reader.h"
#include "fast/data/dataset.h"
#include "fast/errors.h"
#include "fast/programs/cli/toml.h"
#include "fast/train/schedule.h"
#include "stencil/core/mode.h"
#include "stencil/core/option_checks.h"
#include "stencil/core/text.h"
#include "stencil/core/topology.h"
#include "stencil/runtime/exchange_option_fields.h"

namespace fast::compare {
namespace {

namespace fs = std::filesystem;

constexpr char kKeys[] = "see bench/compare/spec.h for the keys";

using Seeds = std::vector<std::uint64_t>;

std::string read_file(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw FileError(file + " cannot be read", "name a spec, e.g. bench/specs/uniform.toml");
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

struct ConditionRow {
  Condition condition;
  TimeKind time = TimeKind::kReal;
  std::optional<Seeds> seeds;
};

struct StrategyRow {
  Strategy strategy;
  double epochs = 0;
  std::optional<Seeds> seeds;
  std::vector<std::string> conditions;  ///< names; empty: all

  [[nodiscard]] bool meets(const ConditionRow& row) const {
    return conditions.empty() ||
           std::ranges::find(conditions, row.condition.name) != conditions.end();
  }
};

/// The root table merged with the file that it includes, which lies beside it: the tables [job] and
/// [time], and their keys, that the spec does not have itself.
toml::table with_included(toml::table root, const std::string& file, TomlReader& in) {
  std::string name;
  if (!in.read(root, "include", name)) return root;
  const fs::path path = fs::path(file).parent_path() / name;
  in.require(fs::is_regular_file(path), root, "include", "name a file beside this one");
  const toml::table shared = parse_toml(read_file(path.string()), path.string());
  for (const auto& [key, node] : shared) {
    const toml::table* const table = node.as_table();
    if (table == nullptr || (key != "job" && key != "time")) {
      in.fail(node, "an included file has [job] and [time] alone", "move it into the spec");
    }
    const auto [own, fresh] = root.insert(key, *table);
    if (fresh || !own->second.is_table()) continue;
    for (const auto& [inner, value] : *table) own->second.as_table()->insert(inner, value);
  }
  return root;
}

class SpecReader {
 public:
  explicit SpecReader(const std::string& file) : in_(file, kKeys) {}

  Spec read(toml::table own, const std::string& file) {
    const toml::table root = with_included(std::move(own), file, in_);
    in_.tick(root, "include");
    Spec spec;
    in_.require(in_.read(root, "name", spec.name), root, "name", "give the comparison a name");
    in_.require(spec.name.find('/') == std::string::npos, root, "name",
                "leave out '/': files and folders are called by it");
    in_.read(root, "question", spec.question);
    in_.read(root, "tuned_by", spec.tuned_by);
    seeds_ = read_seeds(root).value_or(Seeds{1});
    spec.job_at = in_.place(root);
    if (const auto* job = in_.table(root, "job")) {
      read_job(*job);
      spec.job_at = in_.place(*job);
    }
    if (const auto* time = in_.table(root, "time")) read_time(*time);
    std::vector<double> rates;
    if (const auto* tune = in_.table(root, "tune")) {
      in_.require(in_.read(*tune, "learning_rates", rates) && !rates.empty() &&
                      std::ranges::all_of(rates, [](double rate) { return rate > 0; }),
                  *tune, "learning_rates", "write learning_rates = [0.05, 0.1, 0.2]");
      in_.no_others(*tune, "[tune]");
      in_.require(base_.job.validation > 0, *tune, "learning_rates",
                  "tuning needs held-out examples: validation = 5000 in [job]");
    }
    for (const auto* row : in_.tables(root, "condition")) read_condition(*row);
    in_.require(!conditions_.empty(), root, "condition", "write at least one [[condition]]");
    if (std::ranges::find(conditions_, TimeKind::kStandIn, &ConditionRow::time) !=
        conditions_.end()) {
      in_.require(rates.empty(), root, "tune", "a stand-in learns nothing: tune in virtual time");
    }
    if (base_.job.unseen > 0) {
      const bool modelled = std::ranges::all_of(
          conditions_, [](auto& row) { return row.time == TimeKind::kVirtual; });
      if (!modelled || !rates.empty()) {
        in_.fail(
            *in_.table(root, "job"), "unseen",
            "unseen examples judge the ends of runs in virtual time, and nothing is tuned by them",
            "leave it out, or use kind = \"virtual\" and no [tune]");
      }
    }
    for (const auto* row : in_.tables(root, "strategy")) read_strategy(*row);
    in_.require(!strategies_.empty(), root, "strategy", "write at least one [[strategy]]");
    in_.no_others(root, "the spec");
    spec.cells = cells(rates);
    return spec;
  }

 private:
  std::optional<Seeds> read_seeds(const toml::table& t) {
    Seeds seeds;
    if (!in_.read(t, "seeds", seeds)) return std::nullopt;
    const std::set<std::uint64_t> different(seeds.begin(), seeds.end());
    in_.require(!seeds.empty() && different.size() == seeds.size(), t, "seeds",
                "name at least one, and none twice");
    return seeds;
  }

  void read_job(const toml::table& t) {
    Job& j = base_.job;
    in_.read(t, "model", j.model);
    in_.check(t, "model", [&] { Models(torch_models()).check(j.model); });
    in_.read(t, "data", j.data);
    in_.check(t, "data", [&] {
      if (j.data == "cifar10") return;
      // What lies in files need not be on this machine: finished cells are shown without it.
      if (absolute_dataset(j.data) == j.data) (void)dataset_spec(j.data);
    });
    in_.read(t, "examples", j.examples);
    in_.read(t, "validation", j.validation);
    in_.read(t, "unseen", j.unseen);
    in_.require(j.unseen == 0 || j.examples > 0, t, "unseen",
                "they are of those that `examples` leaves: say how many it uses");
    in_.read(t, "epochs", j.epochs);
    in_.require(j.epochs > 0, t, "epochs", "use more than 0");
    in_.read(t, "batch", j.batch);
    in_.require(j.batch > 0, t, "batch", "use 1 or more");
    in_.read(t, "optimizer", j.optimizer);
    in_.require(j.optimizer == "sgd" || j.optimizer == "adamw", t, "optimizer", "use sgd or adamw");
    in_.read(t, "momentum", j.momentum);
    in_.read(t, "nesterov", j.nesterov);
    in_.read(t, "weight_decay", j.weight_decay);
    in_.read(t, "warmup", j.warmup);
    in_.read(t, "schedule", j.schedule);
    in_.check(t, "schedule", [&] { (void)Schedule::parse(j.schedule, 0.1, j.warmup); });
    in_.no_others(t, "[job]");
  }

  void read_time(const toml::table& t) {
    read_kind(t, "kind", base_.time);
    in_.read(t, "step_seconds", base_.clockwork.step_seconds);
    in_.read(t, "latency", base_.clockwork.latency);
    in_.read(t, "rate_mbit", base_.clockwork.rate_mbit);
    in_.require(base_.time == TimeKind::kReal || base_.clockwork.step_seconds > 0, t,
                "step_seconds", "say how long a step lasts; `fast-compare measure` tells");
    in_.require(base_.clockwork.rate_mbit > 0, t, "rate_mbit", "use more than 0");
    in_.no_others(t, "[time]");
  }

  void read_kind(const toml::table& t, std::string_view key, TimeKind& kind) {
    std::string said(fast::compare::name(kind));
    in_.read(t, key, said);
    const std::optional<TimeKind> known = parse_time_kind(said);
    in_.require(known.has_value(), t, key, "use real, virtual or stand-in");
    kind = *known;
  }

  void read_condition(const toml::table& t) {
    ConditionRow row{.condition = {}, .time = base_.time, .seeds = read_seeds(t)};
    Condition& c = row.condition;
    read_kind(t, "time", row.time);
    in_.require(row.time == TimeKind::kReal || base_.clockwork.step_seconds > 0, t, "time",
                "say how long a step lasts: step_seconds in [time]");
    in_.require(in_.read(t, "name", c.name), t, "name", "give the condition a name");
    if (known(c.name)) {
      in_.fail(t, "name", "there is a condition '" + c.name + "' already", "give it another name");
    }
    in_.read(t, "topology", c.topology);
    in_.read(t, "partition", c.partition);
    in_.read(t, "jitter", c.jitter);
    in_.read(t, "link_mbit", c.link_mbit);
    if (const auto* slow = in_.table(t, "slow")) {
      for (const auto& [key, node] : *slow) {
        const std::string_view text = key.str();
        int rank = -1;
        const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), rank);
        in_.require(bad == std::errc() && end == text.data() + text.size(), *slow, text,
                    "write slow = {\"RANK\" = FACTOR}");
        in_.read(*slow, text, c.slow[rank]);
      }
    }
    read_absences(t, "frozen", Absence::Kind::kFrozen, row);
    read_absences(t, "dead", Absence::Kind::kDead, row);
    if (const auto flaw = flaw_of(c)) in_.fail(t, flaw->key, flaw->what, flaw->remedy);
    const int workers = stencil::Topology::parse(c.topology).size();
    int said = workers;
    in_.read(t, "workers", said);
    in_.require(said == workers, t, "workers",
                fmt::format("{} has {} workers: leave 'workers' out", c.topology, workers));
    in_.no_others(t, "[[condition]]");
    conditions_.push_back(row);
  }

  void read_absences(const toml::table& t, std::string_view key, Absence::Kind kind,
                     ConditionRow& row) {
    std::vector<std::string> all;
    if (!in_.read(t, key, all)) return;
    in_.require(row.time == TimeKind::kVirtual, t, key, "workers are away in virtual time alone");
    for (const std::string& text : all) {
      const std::optional<Absence> one = parse_absence(kind, text);
      in_.require(one.has_value(), t, key, "write [\"RANK:FROM:TO\", ..], in seconds");
      row.condition.away.push_back(*one);
    }
  }

  [[nodiscard]] bool known(const std::string& condition) const {
    return std::ranges::any_of(
        conditions_, [&](const ConditionRow& row) { return row.condition.name == condition; });
  }

  void read_strategy(const toml::table& t) {
    StrategyRow row;
    Strategy& s = row.strategy;
    in_.require(in_.read(t, "name", s.name), t, "name", "name the strategy");
    in_.check(t, "name", [&] { check_name(s); });
    s = usual_strategy(s.name);
    in_.read(t, "learning_rate", s.learning_rate);
    in_.require(s.learning_rate > 0, t, "learning_rate", "use more than 0");
    read_exchange(t, s);
    const bool exchanges = !s.mode().empty();
    in_.read(t, "buffers", s.buffers);
    in_.require(s.buffers == "local" || (exchanges && s.mixes_statistics()), t, "buffers",
                exchanges ? "use mix or local" : s.name + " mixes none: leave it out");
    in_.read(t, "momentum_correction", s.momentum_correction);
    in_.require(s.momentum_correction >= 0 && s.momentum_correction <= 1, t, "momentum_correction",
                "use a share, 0 to 1");
    in_.require(s.momentum_correction == 0 || exchanges, t, "momentum_correction",
                s.name + " averages no models: leave it out");
    row.epochs = base_.job.epochs;
    in_.read(t, "epochs", row.epochs);
    in_.require(row.epochs > 0, t, "epochs", "use more than 0");
    in_.read(t, "conditions", row.conditions);
    for (const std::string& name : row.conditions) {
      in_.require(known(name), t, "conditions", "there is no condition named '" + name + "'");
    }
    row.seeds = read_seeds(t);
    for (const ConditionRow& condition : conditions_) {
      if (!row.meets(condition) || !seeds_of(row, condition).empty()) continue;
      in_.fail(t, "seeds",
               fmt::format("{} and '{}' have no seed in common", s.name, condition.condition.name),
               "give it one that the condition has, or name its `conditions`");
    }
    const bool bears_absences = s.name != "parameter-server";
    for (const ConditionRow& condition : conditions_) {
      in_.require(bears_absences || condition.condition.away.empty() || !row.meets(condition), t,
                  "name", s.name + " knows no workers that are away: name its `conditions`");
    }
    for (const StrategyRow& earlier : strategies_) {
      if (!overlap(earlier, row)) continue;
      in_.fail(t, "name", "the same " + s.name + " is there already", "leave one of them out");
    }
    in_.no_others(t, "[[strategy]]");
    strategies_.push_back(row);
  }

  /// Reads every exchange option that the table names and the strategy uses.
  void read_exchange(const toml::table& t, Strategy& s) {
    const auto read = [&](const auto& field, auto& value) {
      if (!in_.read(t, field.key, value)) return;
      if (field.key == "sweeps") s.auto_sweeps = false;
      in_.require(field.key != "mode", t, field.key, "the strategy's name says it");
      in_.require(s.by_buckets() || (field.key == "bucket_kib" && s.knows_buckets()) ||
                      ((field.key == "codec" || field.key == "transport") && !s.mode().empty()),
                  t, field.key, s.name + " has no use for it: leave it out");
      in_.check(t, field.key,
                [&] { stencil::OptionChecks(stencil::as_field)(field, std::as_const(value)); });
    };
    visit_fields(s.exchange, read);
    in_.require(!s.exchange.overlap || s.mode() == "async", t, "overlap",
                s.name + " exchanges nothing in the middle of a step: leave it out");
    in_.check(t, t.contains("codec") ? "codec" : "name", [&] { s.exchange.validate(); });
  }

  /// The seeds that both name. Without own seeds, those of the other or of the spec.
  [[nodiscard]] Seeds seeds_of(const StrategyRow& row, const ConditionRow& condition) const {
    if (!condition.seeds) return row.seeds.value_or(seeds_);
    if (!row.seeds) return *condition.seeds;
    Seeds both = *row.seeds;
    std::erase_if(both, [&](std::uint64_t seed) {
      return std::ranges::find(*condition.seeds, seed) == condition.seeds->end();
    });
    return both;
  }

  [[nodiscard]] Cell cell(const StrategyRow& row, const ConditionRow& condition) const {
    Cell out = base_;
    out.condition = condition.condition;
    out.time = condition.time;
    out.job.epochs = row.epochs;
    out.strategy = row.strategy;
    choose_sweeps(out.strategy, out.condition.topology);
    return out;
  }

  /// Whether two rows would make the same cell.
  [[nodiscard]] bool overlap(const StrategyRow& a, const StrategyRow& b) const {
    return std::ranges::any_of(conditions_, [&](const ConditionRow& c) {
      if (!a.meets(c) || !b.meets(c) || hash(cell(a, c)) != hash(cell(b, c))) return false;
      const Seeds ours = seeds_of(a, c), theirs = seeds_of(b, c);
      return std::ranges::find_first_of(ours, theirs) != ours.end();
    });
  }

  static void check_name(const Strategy& strategy) {
    const auto names = strategy_names();
    const std::string& name = strategy.name;
    const std::string mode = strategy.mode();
    if (!mode.empty()) {
      (void)stencil::Mode::parse(mode);
    } else if (std::ranges::find(names, name) == names.end()) {
      throw ConfigError("no strategy '" + name + "'",
                        fmt::format("use one of {}", fmt::join(names, ", ")));
    }
  }

  [[nodiscard]] std::vector<Cell> cells(const std::vector<double>& rates) const {
    std::vector<Cell> out;
    for (const ConditionRow& condition : conditions_) {
      for (const StrategyRow& row : strategies_) {
        if (!row.meets(condition)) continue;
        Cell one = cell(row, condition);
        one.tuning = !rates.empty();
        for (const std::uint64_t seed : seeds_of(row, condition)) {
          one.seed = seed;
          if (rates.empty()) out.push_back(one);
          for (const double rate : rates) {
            one.strategy.learning_rate = rate;
            out.push_back(one);
          }
        }
      }
    }
    return out;
  }

  TomlReader in_;
  Cell base_;
  Seeds seeds_;
  std::vector<ConditionRow> conditions_;
  std::vector<StrategyRow> strategies_;
};

}  // namespace

Spec parse_spec(std::string_view text, const std::string& file) {
  return SpecReader(file).read(parse_toml(text, file), file);
}

Spec read_spec(const std::string& file) {
  return parse_spec(read_file(file), file);
}

}  // namespace fast::compare
