#include "bench/compare/spec.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>

#include "bench/compare/real/participant.h"
#include "bench/compare/toml_reader.h"
#include "fast/config.h"
#include "fast/data/dataset.h"
#include "fast/errors.h"
#include "fast/programs/learner_factory.h"
#include "fast/schedule.h"
#include "stencil/codec/codec.h"
#include "stencil/core/topology.h"
#include "stencil/core/usual_sweeps.h"
#include "stencil/engine/config.h"

namespace fast::compare {
namespace {

constexpr char kKeys[] = "see bench/compare/spec.h for the keys";

using Seeds = std::vector<std::uint64_t>;

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

class SpecReader {
 public:
  explicit SpecReader(const std::string& file) : in_(file, kKeys) {}

  Spec read(const toml::table& root) {
    Spec spec;
    in_.demand(in_.read(root, "name", spec.name), root, "name", "give the comparison a name");
    in_.read(root, "tuned_by", spec.tuned_by);
    if (const auto* before = in_.table(root, "before")) spec.before_at = read_before(*before);
    seeds_ = read_seeds(root).value_or(Seeds{1});
    spec.job_at = in_.place(root);
    if (const auto* job = in_.table(root, "job")) {
      read_job(*job);
      spec.job_at = in_.place(*job);
    }
    if (const auto* time = in_.table(root, "time")) read_time(*time);
    std::vector<double> rates;
    if (const auto* tune = in_.table(root, "tune")) {
      in_.demand(in_.read(*tune, "learning_rates", rates) && !rates.empty() &&
                     std::ranges::all_of(rates, [](double rate) { return rate > 0; }),
                 *tune, "learning_rates", "write learning_rates = [0.05, 0.1, 0.2]");
      in_.no_others(*tune, "[tune]");
      in_.demand(base_.job.validation > 0, *tune, "learning_rates",
                 "tuning needs held-out examples: validation = 5000 in [job]");
    }
    for (const auto* row : in_.tables(root, "condition")) read_condition(*row);
    in_.demand(!conditions_.empty(), root, "condition", "write at least one [[condition]]");
    if (std::ranges::find(conditions_, TimeKind::kStandIn, &ConditionRow::time) !=
        conditions_.end()) {
      in_.demand(rates.empty(), root, "tune", "a stand-in learns nothing: tune in virtual time");
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
    in_.demand(!strategies_.empty(), root, "strategy", "write at least one [[strategy]]");
    in_.no_others(root, "the spec");
    spec.cells = cells(rates);
    return spec;
  }

 private:
  std::optional<Seeds> read_seeds(const toml::table& t) {
    Seeds seeds;
    if (!in_.read(t, "seeds", seeds)) return std::nullopt;
    const std::set<std::uint64_t> different(seeds.begin(), seeds.end());
    in_.demand(!seeds.empty() && different.size() == seeds.size(), t, "seeds",
               "name at least one, and none twice");
    return seeds;
  }

  void read_job(const toml::table& t) {
    Job& j = base_.job;
    in_.read(t, "model", j.model);
    in_.check(t, "model", [&] {
      const auto names = model_names();
      if (std::ranges::find(names, j.model) == names.end()) {
        throw ConfigError("no model '" + j.model + "'",
                          fmt::format("use one of {}", fmt::join(names, ", ")));
      }
    });
    in_.read(t, "data", j.data);
    in_.check(t, "data", [&] {
      if (j.data != "cifar10") (void)dataset_shape(j.data);
    });
    in_.read(t, "examples", j.examples);
    in_.read(t, "validation", j.validation);
    in_.read(t, "unseen", j.unseen);
    in_.demand(j.unseen == 0 || j.examples > 0, t, "unseen",
               "they are of those that `examples` leaves: say how many it uses");
    in_.read(t, "epochs", j.epochs);
    in_.demand(j.epochs > 0, t, "epochs", "use more than 0");
    in_.read(t, "batch", j.batch);
    in_.demand(j.batch > 0, t, "batch", "use 1 or more");
    in_.read(t, "optimizer", j.optimizer);
    in_.demand(j.optimizer == "sgd" || j.optimizer == "adamw", t, "optimizer", "use sgd or adamw");
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
    in_.demand(base_.time == TimeKind::kReal || base_.clockwork.step_seconds > 0, t, "step_seconds",
               "say how long a step lasts; `fast-compare measure` tells");
    in_.demand(base_.clockwork.rate_mbit > 0, t, "rate_mbit", "use more than 0");
    in_.no_others(t, "[time]");
  }

  void read_kind(const toml::table& t, std::string_view key, TimeKind& kind) {
    std::string said(fast::compare::name(kind));
    in_.read(t, key, said);
    const std::optional<TimeKind> known = parse_time_kind(said);
    in_.demand(known.has_value(), t, key, "use real, virtual or stand-in");
    kind = *known;
  }

  void read_condition(const toml::table& t) {
    ConditionRow row{.condition = {}, .time = base_.time, .seeds = read_seeds(t)};
    Condition& c = row.condition;
    read_kind(t, "time", row.time);
    in_.demand(row.time == TimeKind::kReal || base_.clockwork.step_seconds > 0, t, "time",
               "say how long a step lasts: step_seconds in [time]");
    in_.demand(in_.read(t, "name", c.name), t, "name", "give the condition a name");
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
        in_.demand(bad == std::errc() && end == text.data() + text.size(), *slow, text,
                   "write slow = {\"RANK\" = FACTOR}");
        in_.read(*slow, text, c.slow[rank]);
      }
    }
    if (const auto flaw = flaw_of(c)) in_.fail(t, flaw->key, flaw->what, flaw->remedy);
    const int workers = stencil::Topology::parse(c.topology).size();
    int said = workers;
    in_.read(t, "workers", said);
    in_.demand(said == workers, t, "workers",
               fmt::format("{} has {} workers: leave 'workers' out", c.topology, workers));
    in_.no_others(t, "[[condition]]");
    conditions_.push_back(row);
  }

  [[nodiscard]] bool known(const std::string& condition) const {
    return std::ranges::any_of(
        conditions_, [&](const ConditionRow& row) { return row.condition.name == condition; });
  }

  /// Where it stands.
  std::string read_before(const toml::table& t) {
    before_.emplace();
    if (const auto* sweeps = in_.table(t, "sweeps")) {
      for (const auto& [topology, node] : *sweeps) {
        double& usual = (*before_)[std::string(topology.str())];
        in_.read(*sweeps, topology.str(), usual);
        in_.demand(usual > 0, *sweeps, topology.str(), "use more than 0");
      }
    }
    in_.no_others(t, "[before]");
    return in_.place(t);
  }

  void read_strategy(const toml::table& t) {
    StrategyRow row;
    Strategy& s = row.strategy;
    in_.demand(in_.read(t, "name", s.name), t, "name", "name the strategy");
    in_.check(t, "name", [&] { check_name(s); });
    s = usual_strategy(s.name);
    if (before_) {
      s.sweeps_before = *before_;
      s.turns = false;
    }
    in_.read(t, "learning_rate", s.learning_rate);
    in_.demand(s.learning_rate > 0, t, "learning_rate", "use more than 0");
    if (in_.read(t, "sweeps", s.sweeps)) s.usual_sweeps = false;
    in_.demand(s.by_buckets() || t.get("sweeps") == nullptr, t, "sweeps",
               s.name + " begins no sweeps: leave it out");
    in_.demand(s.sweeps > 0 && s.sweeps <= 1000, t, "sweeps", "use more than 0, up to 1000");
    in_.read(t, "linger", s.linger);
    in_.demand(s.linger >= 0 && s.linger <= 1, t, "linger", "use a share of a step, 0 to 1");
    in_.demand(s.linger == 0 || s.by_buckets(), t, "linger",
               s.name + " begins no sweeps: leave it out");
    in_.read(t, "phase_lock", s.phase_lock);
    in_.demand(s.phase_lock >= 0 && s.phase_lock <= 1, t, "phase_lock",
               "use a share of a step, 0 to 1");
    in_.demand(s.phase_lock == 0 || s.by_buckets(), t, "phase_lock",
               s.name + " is not asynchronous: leave it out");
    in_.read(t, "overlap", s.overlap);
    in_.demand(!s.overlap || s.mode() == "async", t, "overlap",
               s.name + " exchanges nothing in the middle of a step: leave it out");
    const bool exchanges = !s.mode().empty();
    in_.read(t, "buffers", s.buffers);
    in_.demand(s.buffers == "local" || (exchanges && s.mixes_statistics()), t, "buffers",
               exchanges ? "use mix or local" : s.name + " mixes none: leave it out");
    in_.read(t, "momentum_correction", s.momentum_correction);
    in_.demand(s.momentum_correction >= 0 && s.momentum_correction <= 1, t, "momentum_correction",
               "use a share, 0 to 1");
    in_.demand(s.momentum_correction == 0 || exchanges, t, "momentum_correction",
               s.name + " averages no models: leave it out");
    in_.read(t, "codec", s.codec);
    in_.demand(s.codec == "fp32" || exchanges, t, "codec", s.name + " codes nothing: leave it out");
    in_.check(t, "codec", [&] {
      const std::string mode = s.mode();
      stencil::check_codec(stencil::parse_codec(s.codec),
                           stencil::Mode::parse(mode.empty() ? "async" : mode));
    });
    in_.read(t, "bucket_kib", s.bucket_kib);
    in_.demand(s.bucket_kib >= 0 && s.bucket_kib <= (1 << 16), t, "bucket_kib",
               "use 1 to 65536 KiB, or 0 for what suits the model");
    in_.demand(s.bucket_kib == 0 || s.knows_buckets(), t, "bucket_kib",
               s.name + " knows no buckets: leave it out");
    row.epochs = base_.job.epochs;
    in_.read(t, "epochs", row.epochs);
    in_.demand(row.epochs > 0, t, "epochs", "use more than 0");
    in_.read(t, "conditions", row.conditions);
    for (const std::string& name : row.conditions) {
      in_.demand(known(name), t, "conditions", "there is no condition named '" + name + "'");
    }
    row.seeds = read_seeds(t);
    for (const ConditionRow& condition : conditions_) {
      if (!row.meets(condition) || !seeds_of(row, condition).empty()) continue;
      in_.fail(t, "seeds",
               fmt::format("{} and '{}' have no seed in common", s.name, condition.condition.name),
               "give it one that the condition has, or name its `conditions`");
    }
    for (const StrategyRow& earlier : strategies_) {
      if (!overlap(earlier, row)) continue;
      in_.fail(t, "name", "the same " + s.name + " is there already", "leave one of them out");
    }
    in_.no_others(t, "[[strategy]]");
    strategies_.push_back(row);
  }

  /// Those that both name; who names none has all that the other does, or the spec.
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
    choose_sweeps(out);
    return out;
  }

  /// They would make one cell twice.
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
  std::optional<std::map<std::string, double>> before_;  ///< usual sweeps of then
  Seeds seeds_;
  std::vector<ConditionRow> conditions_;
  std::vector<StrategyRow> strategies_;
};

}  // namespace

void choose_sweeps(Cell& cell) {
  Strategy& s = cell.strategy;
  if (!s.usual_sweeps) return;
  const std::string& topology = cell.condition.topology;
  const auto before = s.sweeps_before.find(topology);
  s.sweeps = before != s.sweeps_before.end()
                 ? before->second
                 : stencil::usual_sweeps(stencil::Topology::parse(topology));
}

Strategy usual_strategy(const std::string& name) {
  const WorkerConfig usual;
  Strategy s;
  s.name = name;
  if (s.by_buckets()) {
    s.usual_sweeps = true;
    s.linger = usual.linger;
    s.phase_lock = usual.phase_lock;
    s.overlap = usual.overlap && s.mode() == "async";
    s.turns = true;
  }
  if (!s.mode().empty()) {
    s.buffers = usual.buffers;
    s.momentum_correction = usual.optimizer.momentum_correction;
  }
  return s;
}

Spec parse_spec(std::string_view text, const std::string& file) {
  toml::table root;
  try {
    root = toml::parse(text, file);
  } catch (const toml::parse_error& error) {
    throw ConfigError(
        fmt::format("{}:{}: {}", file, error.source().begin.line, error.description()),
        "see bench/compare/spec.h for an example");
  }
  return SpecReader(file).read(root);
}

Spec read_spec(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw FileError(file + " cannot be read", "name a spec, e.g. bench/specs/in-step.toml");
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  return parse_spec(text, file);
}

}  // namespace fast::compare
