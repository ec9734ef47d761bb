#include "fast/train/models.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "fast/errors.h"
#include "stencil/core/text.h"

namespace fast {

namespace {

/// How names of models begin that are a file each.
constexpr std::string_view kScript = "script:";

bool is_between(char c, char least, char most) {
  return least <= c && c <= most;
}

/// What follows the first colon; empty where nothing does.
std::string_view after_colon(std::string_view name) {
  const std::size_t colon = name.find(':');
  return colon == name.npos ? std::string_view() : name.substr(colon + 1);
}

/// "gpt:" of "gpt:LAYERS,HEADS,WIDTH"; empty for a kind without arguments.
std::string_view beginning(std::string_view form) {
  const std::string_view arguments = after_colon(form);
  if (arguments.empty() || !is_between(arguments.front(), 'A', 'Z')) return {};
  return form.substr(0, form.size() - arguments.size());
}

}  // namespace

std::string architecture(std::string_view name) {
  if (const auto file = script_file(name); !file.empty()) {
    return std::filesystem::path(file).filename().string();
  }
  const std::string_view rest = after_colon(name);
  const bool of_framework = !rest.empty() && is_between(rest.front(), 'a', 'z');
  return std::string(of_framework ? rest : name);
}

std::string_view script_file(std::string_view name) {
  return name.starts_with(kScript) ? name.substr(kScript.size()) : std::string_view();
}

std::string absolute_script(std::string_view name) {
  const auto file = script_file(name);
  if (file.empty()) return std::string(name);
  return std::string(kScript) + std::filesystem::absolute(file).lexically_normal().string();
}

bool is_of_kind(std::string_view name, std::string_view kind) {
  const std::string_view begin = beginning(kind);
  if (begin.empty()) return kind == name;
  return name.starts_with(begin) && name.size() > begin.size();
}

Models::Models(std::vector<ModelKind> kinds, Datasets datasets)
    : kinds_(std::make_shared<const std::vector<ModelKind>>(std::move(kinds))),
      datasets_(std::move(datasets)) {
  for (const ModelKind& kind : *kinds_) {
    if (std::ranges::find(names_, kind.name) == names_.end()) names_.push_back(kind.name);
  }
}

const ModelKind* Models::find(std::string_view name) const {
  const auto found = std::ranges::find_if(
      *kinds_, [name](const ModelKind& kind) { return is_of_kind(name, kind.name); });
  return found == kinds_->end() ? nullptr : &*found;
}

bool Models::has(std::string_view name) const {
  return find(name) != nullptr;
}

bool Models::can_make(std::string_view name) const {
  const ModelKind* const kind = find(name);
  return kind != nullptr && kind->make;
}

void Models::check(std::string_view name) const {
  if (!has(name)) stencil::check_choice("model", name, names_);
}

std::unique_ptr<Learner> Models::make(const LearnerOptions& options) const {
  check(options.model);
  if (!can_make(options.model)) {
    throw ConfigError("model '" + options.model + "' is known to another worker program alone",
                      "give the command that needs it --worker-program FILE");
  }
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
