#include "fast/train/models.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "stencil/core/text.h"

namespace fast {

namespace {

/// How names of models begin that are a file each, and what stands for that file in a list of
/// names.
constexpr std::string_view kScript = "script:", kFile = "FILE";

}  // namespace

std::string architecture(std::string_view name) {
  if (const auto file = model_file(name); !file.empty()) {
    return std::filesystem::path(file).filename().string();
  }
  return std::string(name.substr(name.find(':') + 1));
}

std::string_view model_file(std::string_view name) {
  return name.starts_with(kScript) ? name.substr(kScript.size()) : std::string_view();
}

std::string absolute_model(std::string_view name) {
  const auto file = model_file(name);
  if (file.empty()) return std::string(name);
  return std::string(kScript) + std::filesystem::absolute(file).lexically_normal().string();
}

Models::Models(std::vector<ModelKind> kinds) : kinds_(std::move(kinds)) {
  for (const ModelKind& kind : kinds_) {
    if (std::ranges::find(names_, kind.name) == names_.end()) names_.push_back(kind.name);
  }
}

const ModelKind* Models::find(std::string_view name) const {
  const auto is_it = [name](const ModelKind& kind) {
    if (!kind.name.ends_with(kFile)) return kind.name == name;
    const auto begin = kind.name.substr(0, kind.name.size() - kFile.size());
    return name.starts_with(begin) && name.size() > begin.size();
  };
  const auto found = std::ranges::find_if(kinds_, is_it);
  return found == kinds_.end() ? nullptr : &*found;
}

bool Models::has(std::string_view name) const {
  return find(name) != nullptr;
}

void Models::check(std::string_view name) const {
  if (!has(name)) stencil::check_choice("model", name, names_);
}

std::unique_ptr<Learner> Models::make(const LearnerOptions& options) const {
  check(options.model);
  return find(options.model)->make(options);
}

std::string Models::advice(std::string_view name) const {
  const ModelKind* const kind = find(name);
  return kind == nullptr || !kind->advice ? std::string() : kind->advice();
}

int Models::threads(std::string_view name, int cores) const {
  const ModelKind* const kind = find(name);
  return kind == nullptr || !kind->threads_pay ? 1 : std::max(1, cores);
}

}  // namespace fast
