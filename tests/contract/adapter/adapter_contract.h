#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fast/adapter.h"

namespace fast::testing {

/// A model in some framework, with its adapter. Any model can be used, since nothing is trained.
class AttachedModel {
 public:
  virtual ~AttachedModel() = default;
  [[nodiscard]] virtual ModelAdapter& adapter() = 0;
  /// All exchanged parameters in the layout's order, as the framework has them.
  [[nodiscard]] virtual std::vector<double> read() = 0;
  /// Writes them back, as an optimizer's step does; rounds to the framework's types.
  virtual void write(std::span<const double> values) = 0;
};

/// One kind of adapter, made afresh for each test.
struct AdapterCase {
  std::string name;
  std::function<std::unique_ptr<AttachedModel>()> make;
};

/// The contract of every adapter, in adapter_contract.cc. Instantiate it in a file of its own:
///   INSTANTIATE_TEST_SUITE_P(Flat, AdapterContract, ::testing::Values(...), case_name);
class AdapterContract : public ::testing::TestWithParam<AdapterCase> {};

inline void PrintTo(const AdapterCase& kind, std::ostream* out) {
  *out << kind.name;
}

inline std::string case_name(const ::testing::TestParamInfo<AdapterCase>& info) {
  return info.param.name;
}

}  // namespace fast::testing
