#include "fast/options/terms.h"

#include <xxhash.h>

#include <sstream>
#include <string>

#include "fast/options/mean_names.h"
#include "stencil/core/mode.h"
#include "stencil/core/option_text.h"
#include "stencil/core/text.h"
#include "stencil/mix/codecs/kinds.h"

namespace fast {
namespace {

constexpr char kSamples[] = "samples";
constexpr char kEpochs[] = "epochs";

/// Equal for equal edges, whatever the path of an edges file.
std::string identity(const stencil::Topology& topology) {
  if (!topology.spec().starts_with("edges:")) return topology.spec();
  const auto edges = topology.edges();
  return "edges:" + std::to_string(XXH64(edges.data(), edges.size() * sizeof edges[0], 0));
}

}  // namespace

RunLength::RunLength(const std::string& term) {
  std::istringstream(term) >> amount >> unit;
}

bool RunLength::is_longer_than(const RunLength& other) const {
  return unit == other.unit && other.amount > 0 && amount > other.amount;
}

bool RunLength::in_samples() const {
  return unit == kSamples;
}

stencil::Terms make_terms(const SessionOptions& options, const stencil::Topology& topology,
                          const stencil::Layout& layout) {
  stencil::Terms terms = {
      {"run id", options.run_id},
      {"topology", identity(topology)},
      {"model layout", stencil::hex(layout.hash())},
      {"mode", stencil::Mode::parse(options.exchange.mode).name()},
      {"codec", name(stencil::parse_codec(options.exchange.codec))},
  };
  const stencil::Terms more = more_terms(options);
  terms.insert(terms.end(), more.begin(), more.end());
  return terms;
}

stencil::Terms more_terms(const SessionOptions& options) {
  stencil::Terms terms = {
      {kBudgetTerm, options.epochs > 0 ? stencil::option_text(options.epochs) + " " + kEpochs
                                       : std::to_string(options.budget) + " " + kSamples},
      {"seed", std::to_string(options.seed)},
  };
  if (!options.means.empty()) {
    std::string names;
    for (const std::string& name : mean_names(options.means, options.naming("means"))) {
      names += (names.empty() ? "" : ",") + name;
    }
    terms.push_back({"means", names});
  }
  terms.insert(terms.end(), options.terms.begin(), options.terms.end());
  return terms;
}

}  // namespace fast
