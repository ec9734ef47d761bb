#pragma once

#include <dlib/dnn/core.h>
#include <dlib/dnn/layers.h>

#include <vector>

#include "adapters/dlib/dlib_layers.h"

namespace fast::dlib_nets {

/// A layer of dlib's that multiplies by a matrix, as dlib::fc_, whose parameters lie in memory as
/// those of LibTorch's Linear: "weight" [outputs, inputs], then "bias" [outputs]. So workers of
/// both exchange them without a transposition.
class LinearLayer {
 public:
  static constexpr char kKind[] = "fc";

  LinearLayer() = default;
  explicit LinearLayer(long outputs) : outputs_(outputs) {}

  template <typename Below>
  void setup(const Below& below) {
    const dlib::tensor& in = below.get_output();
    const long inputs = static_cast<long>(in.k() * in.nr() * in.nc());
    weight_ = dlib::alias_tensor(outputs_, inputs);
    bias_ = dlib::alias_tensor(1, outputs_);
    parameters_.set_size(static_cast<long>(weight_.size() + bias_.size()));
    parameters_ = 0;
  }

  template <typename Below>
  void forward(const Below& below, dlib::resizable_tensor& out) {
    const dlib::tensor& in = below.get_output();
    out.set_size(in.num_samples(), outputs_);
    dlib::tt::gemm(0, out, 1, in, false, weight_(parameters_, 0), true);
    dlib::tt::add(1, out, 1, bias_(parameters_, weight_.size()));
  }

  template <typename Below>
  void backward(const dlib::tensor& slope, Below& below, dlib::tensor& gradient) {
    auto weight = weight_(gradient, 0);
    auto bias = bias_(gradient, weight_.size());
    dlib::tt::gemm(0, weight, 1, slope, true, below.get_output(), false);
    dlib::tt::assign_bias_gradient(bias, slope);
    dlib::tt::gemm(1, below.get_gradient_input(), 1, slope, false, weight_(parameters_, 0), false);
  }

  const dlib::tensor& get_layer_params() const { return parameters_; }
  dlib::tensor& get_layer_params() { return parameters_; }

  [[nodiscard]] std::vector<DlibPart> parts() const {
    return {{"weight", {outputs_, static_cast<long>(weight_.size()) / outputs_}},
            {"bias", {outputs_}}};
  }

 private:
  long outputs_ = 1;
  dlib::resizable_tensor parameters_;
  dlib::alias_tensor weight_, bias_;
};

template <typename Below>
using linear = dlib::add_layer<LinearLayer, Below>;

}  // namespace fast::dlib_nets
