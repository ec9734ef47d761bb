#include "fast/train/models.h"

#include <algorithm>
#include <utility>

#include "stencil/core/text.h"

namespace fast {

std::string architecture(std::string_view name) {
  return std::string(name.substr(name.find(':') + 1));
}

Models::Models(std::vector<ModelKind> kinds) : kinds_(std::move(kinds)) {
  for (const ModelKind& kind : kinds_) {
    if (!has(kind.name)) names_.push_back(kind.name);
  }
}

bool Models::has(std::string_view name) const {
  return std::ranges::find(names_, name) != names_.end();
}

std::unique_ptr<Learner> Models::make(const LearnerOptions& options) const {
  stencil::check_choice("model", options.model, names_);
  return std::ranges::find(kinds_, options.model, &ModelKind::name)->make(options);
}

std::string Models::advice(std::string_view name) const {
  const auto kind = std::ranges::find(kinds_, name, &ModelKind::name);
  return kind == kinds_.end() || !kind->advice ? std::string() : kind->advice();
}

int Models::threads(std::string_view name, int cores) const {
  const auto kind = std::ranges::find(kinds_, name, &ModelKind::name);
  return kind == kinds_.end() || !kind->threads_pay ? 1 : std::max(1, cores);
}

}  // namespace fast
