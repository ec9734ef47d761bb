#include "fast/data/dataset.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "fast/data/cifar10.h"
#include "fast/data/cifar100.h"
#include "fast/data/csv.h"
#include "fast/data/image_folder.h"
#include "fast/data/mnist.h"
#include "fast/data/npy.h"
#include "fast/data/synthetic.h"
#include "fast/data/text.h"
#include "fast/errors.h"
#include "stencil/core/text.h"

namespace fast {
namespace {

/// One kind of data set. To add one: a file pair in this folder and a line here.
struct DatasetKind {
  std::string_view name;  ///< the part before the colon
  std::string_view form;
  ExampleSpec (*spec)(std::string_view arguments);
  /// One of these: of images as bytes, or of anything else.
  ImageDataset (*images)(std::string_view arguments, std::uint64_t seed,
                         const ChooseExamples& choose);
  Dataset (*load)(std::string_view arguments);
  /// The arguments with absolute paths, where they are more than one path; or null.
  std::string (*absolute)(std::string_view arguments) = nullptr;
};

/// Replaces a leading tilde by the home folder, which no shell does after a colon.
std::filesystem::path directory(std::string_view arguments) {
  if (arguments.empty()) throw ConfigError("it lacks the path", "name it after the colon");
  const char* const home = std::getenv("HOME");
  const bool tilde = arguments == "~" || arguments.starts_with("~/");
  if (!tilde || home == nullptr || *home == '\0') return arguments;
  return home + std::string(arguments.substr(1));
}

constexpr DatasetKind kKinds[] = {
    {"synthetic", "synthetic[:TRAIN[,TEST]] (generated)",
     [](std::string_view counts) { return ExampleSpec(synthetic_shape(counts)); },
     [](std::string_view counts, std::uint64_t seed, const ChooseExamples&) {
       return load_synthetic(counts, seed);
     },
     nullptr},
    {"cifar10", "cifar10:DIR (binary format)",
     [](std::string_view dir) { return ExampleSpec(cifar10_shape(directory(dir))); },
     [](std::string_view dir, std::uint64_t, const ChooseExamples& choose) {
       return load_cifar10(directory(dir), choose);
     },
     nullptr},
    {"cifar100", "cifar100:DIR (binary format)",
     [](std::string_view dir) { return ExampleSpec(cifar100_shape(directory(dir))); },
     [](std::string_view dir, std::uint64_t, const ChooseExamples& choose) {
       return load_cifar100(directory(dir), choose);
     },
     nullptr},
    {"mnist", "mnist:DIR (IDX)",
     [](std::string_view dir) { return ExampleSpec(mnist_shape(directory(dir))); },
     [](std::string_view dir, std::uint64_t, const ChooseExamples&) {
       return load_mnist(directory(dir));
     },
     nullptr},
    {"images",
     "images:DIR[,SIZE][,grey][,test=SHARE] (a folder of PNG or JPEG files for each class)",
     [](std::string_view dir) { return image_folder_spec(directory(dir).string()); },
     [](std::string_view dir, std::uint64_t, const ChooseExamples&) {
       return load_image_folder(directory(dir).string());
     },
     nullptr},
    {"npy", "npy:DIR ({train,test}-{x,y}.npy of your own)",
     [](std::string_view dir) { return npy_spec(directory(dir)); }, nullptr,
     [](std::string_view dir) { return load_npy(directory(dir)); }},
    {"csv", "csv:FILE[,target=NAME][,numbers][,test=SHARE][,missing=mean] (a table with a header)",
     [](std::string_view file) { return csv_spec(directory(file).string()); }, nullptr,
     [](std::string_view file) { return load_csv(directory(file).string()); }},
    {"text", "text:FILE[,LENGTH][,characters|vocabulary=FILE] (tokens to be foretold; bytes)",
     [](std::string_view file) { return text_spec(directory(file).string()); }, nullptr,
     [](std::string_view file) { return load_text(directory(file).string()); },
     [](std::string_view file) { return absolute_text(directory(file).string()); }},
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

ImageDataset images_of(const Source& source, std::uint64_t seed, const ChooseExamples& choose) {
  ImageDataset data = source.kind.images(source.arguments, seed, choose);
  if (choose && data.train.kept.empty() && !data.train.read)
    data.train.keep(choose(data.train.all_labels()));
  return data;
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
  const std::string_view form = source.kind.form;
  const bool has_path = form.find(":DIR") != form.npos || form.find(":FILE") != form.npos;
  if (!has_path) return std::string(spec);
  if (source.kind.absolute != nullptr) {
    return std::string(source.kind.name) + ":" + source.kind.absolute(source.arguments);
  }
  return std::string(source.kind.name) + ":" +
         std::filesystem::absolute(directory(source.arguments)).lexically_normal().string();
}

std::vector<std::string> dataset_choices() {
  std::vector<std::string> choices;
  for (const DatasetKind& kind : kKinds) {
    const bool more = kind.form.substr(kind.name.size()).starts_with(':');
    choices.push_back(std::string(kind.name) + (more ? ":" : ""));
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

Dataset::Dataset(ImageDataset images)
    : spec(images.train.shape),
      train(examples_of(std::move(images.train), images)),
      test(examples_of(std::move(images.test), images)) {}

ImageDataset load_images(std::string_view spec, std::uint64_t seed, const ChooseExamples& choose) {
  return with_spec(spec, [&](const Source& source) {
    if (source.kind.images == nullptr) {
      throw ConfigError("it is none of images", "only images can be used here");
    }
    return images_of(source, seed, choose);
  });
}

Dataset load_dataset(std::string_view spec, std::uint64_t seed, const ChooseExamples& choose) {
  Dataset data = with_spec(spec, [&](const Source& source) {
    return source.kind.images == nullptr ? source.kind.load(source.arguments)
                                         : Dataset(images_of(source, seed, choose));
  });
  data.name = spec;
  return data;
}

ExampleSpec dataset_spec(std::string_view spec) {
  return with_spec(spec, [](const Source& source) { return source.kind.spec(source.arguments); });
}

}  // namespace fast
