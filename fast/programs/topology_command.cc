#include "fast/programs/topology_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "fast/data/dataset.h"
#include "fast/errors.h"
#include "fast/programs/cli/options.h"
#include "fast/report/format.h"
#include "stencil/core/grid.h"
#include "stencil/core/layout.h"
#include "stencil/core/mixing_weights.h"
#include "stencil/core/topologies/kinds.h"
#include "stencil/core/usual_sweeps.h"
#include "stencil/mix/codecs/kinds.h"

namespace fast {
namespace {

constexpr char kTopologyExamples[] = R"(Examples:
  fast topology torus:4x4
  fast topology grid:3x5:moore --model resnet20 --codec fp16
  fast topology ring:100 --parameters 11173962 --json)";

/// The bytes of one sweep in each of the two directions, without headers.
struct SweepCost {
  std::size_t parameters = 0, offered = 0, replied = 0, buckets = 0;
};

std::size_t count_parameters(const TopologyQuery& query, const Models& models) {
  WorkerConfig config;
  config.model = query.model;
  const auto learner = models.make(learner_options(config, models.datasets().spec(query.data)));
  std::size_t sum = 0;
  for (const auto& slot : learner->adapter().parameters()) {
    std::size_t size = 1;
    for (const std::int64_t side : slot.shape) size *= static_cast<std::size_t>(side);
    sum += size;
  }
  return sum;
}

SweepCost sweep_cost(const TopologyQuery& query, const Models& models) {
  SweepCost cost;
  cost.parameters = query.parameters != 0 ? query.parameters : count_parameters(query, models);
  const auto layout = stencil::Layout::flat(
      cost.parameters, static_cast<std::size_t>(query.bucket_kib) * 1024 / sizeof(float));
  const auto codec = stencil::make_edge_codec(stencil::parse_codec(query.codec), layout, {});
  cost.buckets = layout.bucket_count();
  for (std::size_t i = 0; i < cost.buckets; ++i) {
    cost.offered += codec->offer_form(layout.bucket(i).size).bytes;
    cost.replied += codec->reply_form(layout.bucket(i).size).bytes;
  }
  return cost;
}

std::string model_text(const TopologyQuery& query, const SweepCost& cost) {
  return fmt::format("{}{} parameters as {}", query.parameters != 0 ? "" : query.model + ", ",
                     format::count(static_cast<double>(cost.parameters)), query.codec);
}

/// straying() with 1 to 6 sweeps a step; empty for grids where that takes long.
std::vector<double> strayings(const stencil::Topology& topology) {
  constexpr int kLargest = 256;
  std::vector<double> out;
  for (int sweeps = 1; sweeps <= 6 && topology.size() <= kLargest; ++sweeps) {
    out.push_back(stencil::straying(topology, sweeps));
  }
  return out;
}

void print_table(const stencil::Topology& topology, const TopologyQuery& query,
                 const SweepCost& cost) {
  const stencil::MixingWeights weights(topology);
  fmt::print("{}: {} workers, {} edges, {:.4g} neighbours each on average\n", topology.spec(),
             topology.size(), topology.edges().size(), topology.mean_degree());
  fmt::print(
      "spectral gap  {:.6g}   (share of the disagreement that one lock-step round removes)\n",
      stencil::spectral_gap(topology));
  const stencil::Grid grid(topology);
  if (const double value = grid.lambda2(); std::isfinite(value)) {
    fmt::print("lambda2       {:.6g}   (algebraic connectivity)\n", value);
  }
  fmt::print("turns         {}   (in which all neighbours have met in pairs)\n", grid.turns());
  fmt::print("sweeps        {}   (a step, by --sweeps auto", grid.sweeps());
  if (const auto far = strayings(topology); !far.empty()) {
    fmt::print("; with 1 to 6 of them workers stray {:.2f}", fmt::join(far, ", "));
  }
  fmt::print(")\none sweep     {} out and {} back in {} buckets ({})\n\n",
             format::bytes(static_cast<double>(cost.offered)),
             format::bytes(static_cast<double>(cost.replied)), cost.buckets,
             model_text(query, cost));
  if (const std::string drawing = draw(topology); !drawing.empty()) fmt::print("{}\n", drawing);
  fmt::print("{:>6}  {:<12} {:>6}  {}\n", "rank", "place", "own",
             "neighbours: rank direction weight");
  for (stencil::Rank rank = 0; rank < topology.size(); ++rank) {
    std::string line;
    for (const stencil::Rank other : topology.neighbours(rank)) {
      const std::string direction = topology.direction(rank, other);
      line += fmt::format("  {}{}{} {:.3f}", other, direction.empty() ? "" : " ", direction,
                          weights.weight(rank, other));
    }
    fmt::print("{:>6}  {:<12} {:>6.3f}{}\n", rank,
               fmt::format("({})", fmt::join(topology.coordinates(rank), ",")),
               weights.weight(rank, rank), line);
  }
}

void print_json(const stencil::Topology& topology, const TopologyQuery& query,
                const SweepCost& cost) {
  const stencil::MixingWeights weights(topology);
  nlohmann::ordered_json out;
  out["topology"] = topology.spec();
  out["workers"] = topology.size();
  out["shape"] = topology.shape();
  out["edges"] = topology.edges();
  out["mean_degree"] = topology.mean_degree();
  out["spectral_gap"] = stencil::spectral_gap(topology);
  const stencil::Grid grid(topology);
  const double lambda2 = grid.lambda2();
  out["lambda2"] = std::isfinite(lambda2) ? nlohmann::ordered_json(lambda2) : nullptr;
  out["turns"] = grid.turns();
  out["usual_sweeps"] = grid.sweeps();
  out["straying"] = strayings(topology);
  out["parameters"] = cost.parameters;
  out["codec"] = query.codec;
  out["bytes_per_sweep"] = {{"offered", cost.offered}, {"replied", cost.replied}};
  out["buckets"] = cost.buckets;
  out["ranks"] = nlohmann::ordered_json::array();
  for (stencil::Rank rank = 0; rank < topology.size(); ++rank) {
    nlohmann::ordered_json row;
    row["rank"] = rank;
    row["coordinates"] = topology.coordinates(rank);
    row["weight"] = weights.weight(rank, rank);
    row["neighbours"] = nlohmann::ordered_json::array();
    for (const stencil::Rank other : topology.neighbours(rank)) {
      row["neighbours"].push_back({{"rank", other},
                                   {"direction", topology.direction(rank, other)},
                                   {"weight", weights.weight(rank, other)}});
    }
    out["ranks"].push_back(std::move(row));
  }
  fmt::print("{}\n", out.dump(2));
}

}  // namespace

void bind_topology_options(CLI::App& app, TopologyQuery& query) {
  app.add_option("spec", query.spec, stencil::topology_forms())->type_name("SPEC")->required();
  app.add_option("--model,-m", query.model, "model, for its size")
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--data,-d", query.data, "data set that gives the model's input")
      ->type_name("SPEC")
      ->capture_default_str();
  app.add_option("--parameters", query.parameters, "size instead of --model")->type_name("COUNT");
  app.add_option("--codec", query.codec, stencil::codec_forms())
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--bucket-kib", query.bucket_kib, "size of a bucket; 0: by the model's size")
      ->type_name("KIB")
      ->capture_default_str();
  app.add_flag("--json", query.json, "print JSON, for programs");
}

int topology_command(const std::vector<std::string>& args, const Models& models) {
  TopologyQuery query;
  query.model = default_config(models).worker.model;
  CLI::App app("Shows neighbours and weights on a topology, and what a sweep costs.",
               "fast topology");
  set_conventions(app, kTopologyExamples);
  bind_topology_options(app, query);
  if (const auto code = parse_arguments(app, args)) return *code;
  if (query.bucket_kib < 0) {
    throw ConfigError(fmt::format("--bucket-kib {} is out of range", query.bucket_kib),
                      "use 1 or more, or 0 for what suits the model");
  }
  const auto topology = stencil::Topology::parse(query.spec);
  const SweepCost cost = sweep_cost(query, models);
  if (query.json) {
    print_json(topology, query, cost);
  } else {
    print_table(topology, query, cost);
  }
  return 0;
}

}  // namespace fast
