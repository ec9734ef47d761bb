#include "adapters/flat/flat_adapter.h"

#include "tests/contract/adapter/adapter_contract.h"
#include "tests/support/plain_model.h"

namespace fast::testing {
namespace {

using stencil::ElementType;

/// One array of floats.
class Array : public AttachedModel {
 public:
  explicit Array(bool whole) : values_(200) {
    if (whole) {
      adapter_ = std::make_unique<FlatAdapter>(values_);
    } else {
      const std::vector<ParameterSlot> slots = {{"a", {10, 15}}, {"none", {0}}, {"b", {50}}};
      adapter_ = std::make_unique<FlatAdapter>(std::span<float>(values_), slots);
    }
  }
  ModelAdapter& adapter() override { return *adapter_; }
  std::vector<double> read() override { return {values_.begin(), values_.end()}; }
  void write(std::span<const double> values) override {
    for (std::size_t i = 0; i < values.size(); ++i) values_[i] = static_cast<float>(values[i]);
  }

 private:
  std::vector<float> values_;
  std::unique_ptr<FlatAdapter> adapter_;
};

/// Parameters in several places.
class Places : public AttachedModel {
 public:
  explicit Places(std::vector<ElementType> types)
      : model_(std::move(types)), adapter_(model_.parameters()) {}
  ModelAdapter& adapter() override { return adapter_; }
  std::vector<double> read() override { return model_.read(); }
  void write(std::span<const double> values) override { model_.write(values); }

 private:
  PlainModel model_;
  FlatAdapter adapter_;
};

AdapterCase array(std::string name, bool whole) {
  return {std::move(name), [whole] { return std::make_unique<Array>(whole); }};
}

AdapterCase places(std::string name, std::vector<ElementType> types) {
  return {std::move(name), [types] { return std::make_unique<Places>(types); }};
}

constexpr auto kF32 = ElementType::kF32, kF64 = ElementType::kF64, kF16 = ElementType::kF16,
               kBF16 = ElementType::kBF16;

INSTANTIATE_TEST_SUITE_P(Flat, AdapterContract,
                         ::testing::Values(array("vector", true), array("span", false),
                                           places("f32", {kF32, kF32, kF32, kF32}),
                                           places("f64", {kF64, kF64, kF64, kF64}),
                                           places("f16", {kF16, kF16, kF16, kF16}),
                                           places("bf16", {kBF16, kBF16, kBF16, kBF16}),
                                           places("mixed", {kBF16, kF64, kF16, kF32})),
                         case_name);

}  // namespace
}  // namespace fast::testing
