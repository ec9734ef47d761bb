#include "fast/data/datasets.h"

#include <algorithm>
#include <filesystem>

#include "fast/errors.h"

namespace fast {
namespace {

std::string_view name_in(std::string_view spec) {
  return spec.substr(0, spec.find(':'));
}

std::string_view arguments_in(std::string_view spec) {
  const std::size_t colon = spec.find(':');
  return colon == spec.npos ? std::string_view() : spec.substr(colon + 1);
}

}  // namespace

const OwnDataset* Datasets::find(std::string_view spec) const {
  const auto found = std::ranges::find(own_, name_in(spec), &OwnDataset::name);
  return found == own_.end() ? nullptr : &*found;
}

bool Datasets::has(std::string_view spec) const {
  const std::vector<std::string_view> names = dataset_names();
  return find(spec) != nullptr || std::ranges::find(names, name_in(spec)) != names.end();
}

bool Datasets::can_load(std::string_view spec) const {
  const OwnDataset* const own = find(spec);
  return own == nullptr || own->load;
}

std::vector<std::string> Datasets::choices() const {
  std::vector<std::string> choices;
  for (const OwnDataset& own : own_) {
    choices.push_back(own.name + (own.form.starts_with(own.name + ":") ? ":" : ""));
  }
  for (std::string& choice : dataset_choices()) choices.push_back(std::move(choice));
  return choices;
}

std::string Datasets::forms() const {
  std::string forms;
  for (const OwnDataset& own : own_) forms += own.form + ", ";
  return forms + dataset_forms();
}

void Datasets::check(std::string_view spec) const {
  if (find(spec) != nullptr) return;
  if (has(spec) || own_.empty()) {
    (void)dataset_spec(spec);
    return;
  }
  throw ConfigError("data set '" + std::string(spec) + "' is unknown", "use " + forms());
}

Dataset Datasets::load(std::string_view spec, std::uint64_t seed,
                       const ChooseExamples& choose) const {
  const OwnDataset* const own = find(spec);
  if (own == nullptr) return load_dataset(spec, seed, choose);
  if (!own->load) {
    throw ConfigError(
        "data set '" + std::string(spec) + "' is known to another worker program alone",
        "give the command that needs it --worker-program FILE");
  }
  Dataset data = own->load(arguments_in(spec), seed);
  if (data.train == nullptr || data.test == nullptr) {
    throw DataError("data set '" + std::string(spec) + "' has no training or no test set",
                    "let the program that has it set both");
  }
  data.name = spec;
  return data;
}

std::string Datasets::absolute(std::string_view spec) const {
  const OwnDataset* const own = find(spec);
  if (own == nullptr) return absolute_dataset(spec);
  const bool has_path =
      own->form.find(":DIR") != std::string::npos || own->form.find(":FILE") != std::string::npos;
  if (!has_path || arguments_in(spec).empty()) return std::string(spec);
  return own->name + ":" +
         std::filesystem::absolute(arguments_in(spec)).lexically_normal().string();
}

ExampleSpec Datasets::spec(std::string_view spec) const {
  return find(spec) == nullptr ? dataset_spec(spec) : load(spec, 1).spec;
}

}  // namespace fast
