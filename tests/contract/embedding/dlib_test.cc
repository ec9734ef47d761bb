#include <dlib/dnn/input.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "adapters/dlib/dlib_adapter.h"
#include "adapters/dlib/dlib_layers.h"
#include "tests/contract/embedding/embedding_contract.h"
#include "tests/contract/embedding/session_worker.h"

namespace fast::testing {
namespace {

using stencil::ElementType;

/// A layer that computes nothing, of PlainModel's parameters.
class Plain {
 public:
  static constexpr char kKind[] = "plain";

  template <typename Below>
  void setup(const Below&) {
    parameters_.set_size(221);
    parameters_ = 0;
  }
  template <typename Below>
  void forward(const Below& below, dlib::resizable_tensor& out) {
    out.copy_size(below.get_output());
  }
  template <typename Below>
  void backward(const dlib::tensor&, Below&, dlib::tensor&) {}
  const dlib::tensor& get_layer_params() const { return parameters_; }
  dlib::tensor& get_layer_params() { return parameters_; }

  [[nodiscard]] std::vector<DlibPart> parts() const {
    return {{"a", {3, 50}}, {"b", {}}, {"c", {0}}, {"d", {70}}};
  }

 private:
  dlib::resizable_tensor parameters_;
};

using Net = dlib::add_layer<Plain, dlib::input<dlib::matrix<float>>>;

std::unique_ptr<Net> made() {
  auto net = std::make_unique<Net>();
  (*net)(dlib::matrix<float>(dlib::zeros_matrix<float>(1, 1)));
  return net;
}

class DlibWorker final : public SessionWorker {
 public:
  explicit DlibWorker(const std::vector<ElementType>& types)
      : SessionWorker(types), net_(made()), adapter_(dlib_layers(*net_), {.names = {""}}) {}
  ~DlibWorker() override { close(); }
  ModelAdapter& adapter() override { return adapter_; }
  std::vector<double> read() override {
    const dlib::tensor& memory = net_->layer_details().get_layer_params();
    return {memory.begin(), memory.end()};
  }
  void write(std::span<const double> values) override {
    std::ranges::transform(values, net_->layer_details().get_layer_params().begin(),
                           [](double value) { return static_cast<float>(value); });
  }

 private:
  std::unique_ptr<Net> net_;
  DlibAdapter adapter_;
};

/// dlib has floats alone; another type is another framework's.
std::unique_ptr<EmbeddedWorker> worker(const std::vector<ElementType>& types) {
  const bool floats = std::ranges::all_of(types, [](auto t) { return t == ElementType::kF32; });
  if (floats) return std::make_unique<DlibWorker>(types);
  return std::make_unique<FlatWorker>(types);
}

INSTANTIATE_TEST_SUITE_P(Dlib, EmbeddingContract,
                         ::testing::Values(EmbeddingCase{
                             "f32", std::vector<ElementType>(4, ElementType::kF32), worker}),
                         case_name);

}  // namespace
}  // namespace fast::testing
