#include "fast/data/dataset.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "fast/data/cifar10.h"
#include "fast/data/cifar100.h"
#include "fast/data/mnist.h"
#include "fast/data/synthetic.h"
#include "fast/errors.h"
#include "stencil/core/text.h"

namespace fast {
namespace {

/// One kind of data set. To add one: a file pair in this folder and a line here.
struct DatasetKind {
  std::string_view name;  ///< the part before the colon
  std::string_view form;
  Dataset (*load)(std::string_view arguments, std::uint64_t seed, const ChooseExamples& choose);
  ImageShape (*shape)(std::string_view arguments);
};

/// Replaces a leading tilde by the home folder, which no shell does after a colon.
std::filesystem::path directory(std::string_view arguments) {
  if (arguments.empty()) throw ConfigError("it lacks the directory", "name it after the colon");
  const char* const home = std::getenv("HOME");
  const bool tilde = arguments == "~" || arguments.starts_with("~/");
  if (!tilde || home == nullptr || *home == '\0') return arguments;
  return home + std::string(arguments.substr(1));
}

constexpr DatasetKind kKinds[] = {
    {"synthetic", "synthetic[:TRAIN[,TEST]] (generated)",
     [](std::string_view counts, std::uint64_t seed, const ChooseExamples&) {
       return load_synthetic(counts, seed);
     },
     synthetic_shape},
    {"cifar10", "cifar10:DIR (binary format)",
     [](std::string_view dir, std::uint64_t, const ChooseExamples& choose) {
       return load_cifar10(directory(dir), choose);
     },
     [](std::string_view dir) { return cifar10_shape(directory(dir)); }},
    {"cifar100", "cifar100:DIR (binary format)",
     [](std::string_view dir, std::uint64_t, const ChooseExamples& choose) {
       return load_cifar100(directory(dir), choose);
     },
     [](std::string_view dir) { return cifar100_shape(directory(dir)); }},
    {"mnist", "mnist:DIR (IDX)",
     [](std::string_view dir, std::uint64_t, const ChooseExamples&) {
       return load_mnist(directory(dir));
     },
     [](std::string_view dir) { return mnist_shape(directory(dir)); }},
};

struct Source {
  const DatasetKind& kind;
  std::string_view arguments;
};

Source parse_source(std::string_view spec) {
  const std::string_view name = spec.substr(0, spec.find(':'));
  const auto kind = std::ranges::find(kKinds, name, &DatasetKind::name);
  if (kind == std::end(kKinds)) {
    throw ConfigError("data set " + stencil::in_quotes(spec) + " is unknown",
                      "use " + dataset_forms());
  }
  if (spec.ends_with(':')) {
    throw ConfigError("data set " + stencil::in_quotes(spec) + ": nothing follows the colon",
                      "use " + dataset_forms());
  }
  return {*kind, spec.substr(std::min(spec.size(), name.size() + 1))};
}

/// Calls a function of a kind with its arguments. Where those are wrong, the error shows the whole
/// spec.
template <typename Call>
auto with_spec(std::string_view spec, Call call) {
  const Source source = parse_source(spec);
  try {
    return call(source);
  } catch (const ConfigError& error) {
    throw ConfigError("data set " + stencil::in_quotes(spec) + ": " + error.what(),
                      "the forms are " + dataset_forms());
  }
}

}  // namespace

std::string absolute_dataset(std::string_view spec) {
  const Source source = parse_source(spec);
  if (source.kind.form.find(":DIR") == std::string_view::npos) return std::string(spec);
  return std::string(source.kind.name) + ":" +
         std::filesystem::absolute(directory(source.arguments)).lexically_normal().string();
}

std::vector<std::string> dataset_choices() {
  std::vector<std::string> choices;
  for (const DatasetKind& kind : kKinds) {
    choices.push_back(std::string(kind.form.substr(0, kind.form.find_first_of("[D "))));
  }
  return choices;
}

std::vector<std::string_view> dataset_names() {
  std::vector<std::string_view> names;
  for (const DatasetKind& kind : kKinds) names.push_back(kind.name);
  return names;
}

std::string dataset_forms() {
  std::vector<std::string_view> forms;
  for (const DatasetKind& kind : kKinds) forms.push_back(kind.form);
  return stencil::listed(forms);
}

std::span<const std::uint8_t> ImageSet::image(std::size_t i) const {
  std::size_t place = i;
  if (!kept.empty()) {
    const auto at = std::ranges::lower_bound(kept, i);
    if (at == kept.end() || *at != i) {
      throw stencil::InvariantError("image " + std::to_string(i) + " was not kept in memory");
    }
    place = static_cast<std::size_t>(at - kept.begin());
  }
  return std::span(pixels).subspan(place * shape.pixels(), shape.pixels());
}

void ImageSet::keep(std::vector<std::uint32_t> examples) {
  std::ranges::sort(examples);
  if (examples.size() == size()) return;
  std::vector<std::uint8_t> less;
  less.reserve(examples.size() * shape.pixels());
  for (const std::uint32_t example : examples) {
    const auto one = image(example);
    less.insert(less.end(), one.begin(), one.end());
  }
  pixels = std::move(less);
  kept = std::move(examples);
}

std::size_t ImageSet::bytes() const {
  return pixels.capacity() + labels.capacity() + kept.capacity() * sizeof(kept[0]);
}

Dataset load_dataset(std::string_view spec, std::uint64_t seed, const ChooseExamples& choose) {
  Dataset data = with_spec(
      spec, [&](const Source& source) { return source.kind.load(source.arguments, seed, choose); });
  data.name = spec;
  if (choose && data.train.kept.empty()) data.train.keep(choose(data.train.labels));
  return data;
}

ImageShape dataset_shape(std::string_view spec) {
  return with_spec(spec, [](const Source& source) { return source.kind.shape(source.arguments); });
}

}  // namespace fast
