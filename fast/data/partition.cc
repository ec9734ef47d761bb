#include "fast/data/partition.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "fast/errors.h"
#include "stencil/core/random.h"

namespace fast {
namespace {

using stencil::Random;
using Indices = std::vector<std::uint32_t>;

/// Streams of the run's seed, so that data, partition and training never share randomness.
constexpr std::uint64_t kStream = 0x7061727469;
constexpr char kForms[] =
    "use iid, dirichlet:ALPHA with ALPHA > 0 (e.g. dirichlet:0.5), by-label or own";

void shuffle(std::span<std::uint32_t> values, Random& random) {
  for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random.below(i)]);
}

/// The `rank`-th of `workers` contiguous pieces, whose sizes differ by one at most.
Indices piece_of(const Indices& all, int workers, int rank) {
  const auto cut = [&](int i) {
    return all.begin() + static_cast<std::ptrdiff_t>(all.size() * static_cast<std::size_t>(i) /
                                                     static_cast<std::size_t>(workers));
  };
  return {cut(rank), cut(rank + 1)};
}

/// Indices by label, in their order within one label.
std::vector<Indices> by_class(std::span<const std::uint32_t> labels) {
  std::vector<Indices> classes;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] >= classes.size()) classes.resize(labels[i] + std::size_t{1});
    classes[labels[i]].push_back(static_cast<std::uint32_t>(i));
  }
  return classes;
}

/// Gamma(shape >= 1), scale 1. Marsaglia and Tsang, "A simple method for generating gamma
/// variables" (2000).
double gamma(double shape, Random& random) {
  const double d = shape - 1.0 / 3.0, c = 1.0 / std::sqrt(9.0 * d);
  for (;;) {
    const double x = random.normal();
    const double root = 1.0 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root;
    const double u = 1.0 - random.uniform();  // in (0, 1]
    if (std::log(u) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v;
  }
}

/// Shares that sum to 1. In logarithms, because for small alpha all the gammas would underflow:
/// Gamma(a) = Gamma(a + 1) U^(1/a).
std::vector<double> dirichlet(double alpha, int workers, Random& random) {
  std::vector<double> shares(static_cast<std::size_t>(workers));
  for (double& share : shares) {
    const double whole = std::log(gamma(alpha + 1.0, random));
    share = whole + std::log(1.0 - random.uniform()) / alpha;
  }
  const double largest = *std::max_element(shares.begin(), shares.end());
  double sum = 0;
  for (double& share : shares) sum += share = std::exp(share - largest);
  for (double& share : shares) share /= sum;
  return shares;
}

/// While a shard is empty, the largest one gives it an example; in a tie, the one of the lowest
/// rank.
void fill_empty(std::vector<Indices>& shards) {
  for (Indices& shard : shards) {
    if (!shard.empty()) continue;
    auto largest = std::max_element(shards.begin(), shards.end(), [](const auto& a, const auto& b) {
      return a.size() < b.size();
    });
    shard.push_back(largest->back());
    largest->pop_back();
  }
}

Indices dirichlet_shard(std::span<const std::uint32_t> labels, double alpha, int workers, int rank,
                        Random& random) {
  std::vector<Indices> shards(static_cast<std::size_t>(workers));
  for (Indices& members : by_class(labels)) {
    if (members.empty()) continue;
    shuffle(members, random);
    const std::vector<double> shares = dirichlet(alpha, workers, random);
    double until = 0;
    std::size_t begin = 0;
    for (std::size_t w = 0; w < shards.size(); ++w) {
      until += shares[w];
      const bool last = w + 1 == shards.size();
      const auto cut = static_cast<std::size_t>(until * static_cast<double>(members.size()) + 0.5);
      const std::size_t end = last ? members.size() : std::clamp(cut, begin, members.size());
      shards[w].insert(shards[w].end(), members.begin() + static_cast<std::ptrdiff_t>(begin),
                       members.begin() + static_cast<std::ptrdiff_t>(end));
      begin = end;
    }
  }
  fill_empty(shards);
  return std::move(shards[static_cast<std::size_t>(rank)]);
}

double parse_alpha(std::string_view text, std::string_view spec) {
  double alpha = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), alpha);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(alpha) ||
      alpha <= 0) {
    throw ConfigError("partition '" + std::string(spec) + "': ALPHA is '" + std::string(text) + "'",
                      kForms);
  }
  return alpha;
}

}  // namespace

std::vector<std::uint32_t> partition(std::span<const std::uint32_t> labels, std::string_view spec,
                                     int workers, int rank, std::uint64_t seed) {
  if (workers < 1 || rank < 0 || rank >= workers) {
    throw ConfigError(
        "no shard for rank " + std::to_string(rank) + " of " + std::to_string(workers) + " workers",
        "ranks go from 0 to workers - 1");
  }
  if (labels.size() > std::numeric_limits<std::uint32_t>::max()) {
    throw ConfigError(std::to_string(labels.size()) + " examples are too many",
                      "use fewer than 2^32");
  }
  if (labels.size() < static_cast<std::size_t>(workers) && spec != "own") {
    throw DataError(std::to_string(labels.size()) + " training examples are too few for " +
                        std::to_string(workers) + " workers",
                    "use more examples or fewer workers, or partition own, where every worker "
                    "trains on all that its own machine holds");
  }
  Random random(Random::derive(seed, kStream));
  constexpr std::string_view kDirichlet = "dirichlet:";
  if (spec.starts_with(kDirichlet)) {
    const double alpha = parse_alpha(spec.substr(kDirichlet.size()), spec);
    return dirichlet_shard(labels, alpha, workers, rank, random);
  }
  Indices all(labels.size());
  std::iota(all.begin(), all.end(), 0U);
  if (spec == "own") return all;
  if (spec == "iid") {
    shuffle(all, random);
    return piece_of(all, workers, rank);
  }
  if (spec == "by-label") {
    std::stable_sort(all.begin(), all.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return labels[a] < labels[b]; });
    return piece_of(all, workers, rank);
  }
  throw ConfigError("unknown partition '" + std::string(spec) + "'", kForms);
}

}  // namespace fast
