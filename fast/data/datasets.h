#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fast/data/dataset.h"

namespace fast {

/// A kind of data set of a program's own.
struct OwnDataset {
  std::string name;  ///< what a spec begins with, before a colon
  std::string form;  ///< "waves:COUNT (generated)", for help texts; FILE and DIR are paths
  /// Gets what follows the colon, and the run's seed. Empty: the name is known here, and the data
  /// in another program alone.
  std::function<Dataset(std::string_view arguments, std::uint64_t seed)> load;
};

/// The data sets that a program knows: those of dataset.h, and others of its own, which come first.
/// Immutable value.
class Datasets {
 public:
  explicit Datasets(std::vector<OwnDataset> own = {}) : own_(std::move(own)) {}

  /// The program's own.
  [[nodiscard]] const std::vector<OwnDataset>& own() const { return own_; }

  /// As the functions of dataset.h, of which `spec()` loads what is a program's own.
  [[nodiscard]] std::vector<std::string> choices() const;
  [[nodiscard]] std::string forms() const;
  [[nodiscard]] Dataset load(std::string_view spec, std::uint64_t seed,
                             const ChooseExamples& choose = {}) const;
  [[nodiscard]] std::string absolute(std::string_view spec) const;
  [[nodiscard]] ExampleSpec spec(std::string_view spec) const;

  /// Throws ConfigError or DataError where it is none, as far as that shows without loading what is
  /// a program's own.
  void check(std::string_view spec) const;
  /// Whether it is of a kind that is known here.
  [[nodiscard]] bool has(std::string_view spec) const;
  /// Whether load() can load it, and not another program alone.
  [[nodiscard]] bool can_load(std::string_view spec) const;

 private:
  [[nodiscard]] const OwnDataset* find(std::string_view spec) const;

  std::vector<OwnDataset> own_;
};

}  // namespace fast
