#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fast/data/datasets.h"
#include "fast/train/learner.h"

namespace fast {

/// A model that can be trained by name.
struct ModelKind {
  /// "resnet8"; "dlib:resnet8": that of a framework by its name; "script:FILE",
  /// "gpt:LAYERS,HEADS,WIDTH": with arguments in the place of what is in capitals, which begin with
  /// no small letter, but for a file's.
  std::string name;
  /// Empty: the name is known here, and the model in another program alone.
  std::function<std::unique_ptr<Learner>(const LearnerOptions& options)> make;
  /// May be empty. What makes this model slow on this machine and need not, for people; "" for
  /// nothing.
  std::function<std::string()> advice{};
  /// Whether a step computes long enough between two points where threads wait for each other that
  /// more than one thread makes it quicker: with OpenMP's threads asleep while they wait, on two
  /// cores, 1.4 times at 11 million parameters, and 1.4 times slower at 0.3 million.
  bool threads_pay = false;
};

/// The name without its framework, "resnet8" of "dlib:resnet8": what all workers of a run have in
/// common, since names and layout of a model's parameters are the same in each framework.
[[nodiscard]] std::string architecture(std::string_view name);

/// Whether a model of this name is of the kind that has that name in a list.
[[nodiscard]] bool is_of_kind(std::string_view name, std::string_view kind);

/// The file of "script:FILE", a model or a loss of the user's own; empty for one of no file.
[[nodiscard]] std::string_view script_file(std::string_view name);
/// The name with an absolute path where it has a file, so that it means the same in every folder.
[[nodiscard]] std::string absolute_script(std::string_view name);

/// What a program can train: models, and data sets for them. Its main() makes the list from the
/// adapters that it links; of two models of one name the first counts. Immutable value; copies
/// share the lists.
class Models {
 public:
  explicit Models(std::vector<ModelKind> kinds, Datasets datasets = Datasets());

  /// Each name once, in the list's order.
  [[nodiscard]] const std::vector<std::string_view>& names() const { return names_; }
  [[nodiscard]] const Datasets& datasets() const { return datasets_; }
  [[nodiscard]] bool has(std::string_view name) const;
  /// Throws ConfigError where it is not in the list.
  void check(std::string_view name) const;
  /// Whether make() can make it, and not another program alone.
  [[nodiscard]] bool can_make(std::string_view name) const;
  /// Throws ConfigError where options.model is not in the list, or is another program's.
  [[nodiscard]] std::unique_ptr<Learner> make(const LearnerOptions& options) const;
  /// See ModelKind. "" for a name that is not in the list.
  [[nodiscard]] std::string advice(std::string_view name) const;
  /// The compute threads of a worker that has `cores` to itself: as many, or 1 where more would not
  /// pay. At least 1.
  [[nodiscard]] int threads(std::string_view name, int cores) const;

 private:
  [[nodiscard]] const ModelKind* find(std::string_view name) const;

  std::shared_ptr<const std::vector<ModelKind>> kinds_;
  std::vector<std::string_view> names_;
  Datasets datasets_;
};

}  // namespace fast
