#include <dlib/dnn/input.h>
#include <dlib/dnn/loss.h>

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "adapters/dlib/dlib_adapter.h"
#include "adapters/dlib/dlib_layers.h"
#include "tests/contract/adapter/adapter_contract.h"

namespace fast::testing {
namespace {

using dlib::relu;
using Input = dlib::input<dlib::matrix<float>>;

/// A network, read and written by dlib's own means.
template <typename Net>
class Network : public AttachedModel {
 public:
  explicit Network(std::unique_ptr<Net> net, bool mix_buffers)
      : net_(std::move(net)), adapter_(dlib_layers(*net_), {.mix_buffers = mix_buffers}) {}
  ModelAdapter& adapter() override { return adapter_; }
  std::vector<double> read() override {
    std::vector<double> values;
    each([&](float& value) { values.push_back(value); });
    return values;
  }
  void write(std::span<const double> values) override {
    std::size_t next = 0;
    each([&](float& value) { value = static_cast<float>(values[next++]); });
  }

 private:
  template <typename Visit>
  void each(Visit visit) {
    std::vector<dlib::tensor*> tensors;
    dlib::visit_layer_parameters(
        *net_, [&](std::size_t, dlib::tensor& parameters) { tensors.push_back(&parameters); });
    for (std::size_t i = tensors.size(); i-- > 0;) {
      for (float& value : *tensors[i]) visit(value);
    }
  }

  std::unique_ptr<Net> net_;
  DlibAdapter adapter_;
};

template <typename Net>
AdapterCase network(std::string name) {
  return {std::move(name), [] {
            auto net = std::make_unique<Net>();
            const dlib::matrix<float> sample = dlib::zeros_matrix<float>(8, 8);
            dlib::resizable_tensor input;
            net->to_tensor(&sample, &sample + 1, input);
            net->forward(input);
            return std::make_unique<Network<Net>>(std::move(net), false);
          }};
}

using Fc = dlib::loss_multiclass_log<dlib::fc<3, relu<dlib::fc_no_bias<5, Input>>>>;
using Conv = dlib::fc<3, relu<dlib::bn_con<dlib::con<4, 3, 3, 2, 2, Input>>>>;
using Others = dlib::fc<3, dlib::prelu<dlib::bn_fc<dlib::fc<6, dlib::layer_norm<Input>>>>>;

INSTANTIATE_TEST_SUITE_P(Dlib, AdapterContract,
                         ::testing::Values(network<Fc>("fc"), network<Conv>("con"),
                                           network<Others>("others")),
                         case_name);

}  // namespace
}  // namespace fast::testing
