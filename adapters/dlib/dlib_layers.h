#pragma once

#include <dlib/dnn/core.h>
#include <dlib/dnn/layers.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "fast/errors.h"

namespace fast {

/// What BatchNorm (dlib::bn_) keeps beside its parameters.
struct DlibStatistics {
  dlib::tensor* mean = nullptr;  ///< of each channel; null: the layer is no BatchNorm
  dlib::tensor* variance = nullptr;
  unsigned long* updates = nullptr;  ///< batches in the mean so far, at most `window`
  unsigned long* window = nullptr;
  /// Of the last batch. dlib wants them of the same size as the running ones after the first batch.
  dlib::resizable_tensor* batch_mean = nullptr;
  dlib::resizable_tensor* batch_scale = nullptr;
};
[[nodiscard]] DlibStatistics dlib_statistics(dlib::bn_<dlib::CONV_MODE>& norm);
[[nodiscard]] DlibStatistics dlib_statistics(dlib::bn_<dlib::FC_MODE>& norm);

/// An array of a layer's parameters, which lie end to end in one tensor.
struct DlibPart {
  std::string name;  ///< "weight", "bias"
  std::vector<std::int64_t> shape;
};

/// A layer that has parameters. Its tensors belong to the network.
struct DlibLayer {
  std::string name;  ///< "con1", "bn1", "fc1", ..: kind and number from the input on
  dlib::tensor* parameters = nullptr;
  dlib::tensor* gradient = nullptr;  ///< of parameters; empty before the first backward pass
  std::vector<DlibPart> parts;
  bool trained = true;  ///< false: its learning rate is zero
  DlibStatistics statistics;
};

namespace dlib_parts {

inline DlibPart part(std::string name, std::vector<long long> shape) {
  return {std::move(name), {shape.begin(), shape.end()}};
}

/// What a layer is called, and its parts. A layer of one's own may have a method parts(), which
/// gives its std::vector<DlibPart>, and a kKind; others are one part.
template <typename Layer>
std::pair<std::string, std::vector<DlibPart>> describe(Layer& layer) {
  if constexpr (requires { layer.parts(); }) return {Layer::kKind, layer.parts()};
  return {"layer", {part("parameters", {static_cast<long long>(layer.get_layer_params().size())})}};
}

template <unsigned long outputs, dlib::fc_bias_mode mode>
std::pair<std::string, std::vector<DlibPart>> describe(dlib::fc_<outputs, mode>& layer) {
  const auto columns = static_cast<long long>(layer.get_num_outputs());
  const bool biased = mode == dlib::FC_HAS_BIAS && !layer.bias_is_disabled();
  const auto rows = static_cast<long long>(layer.get_layer_params().size()) / columns - biased;
  std::vector<DlibPart> parts = {part("weight", {rows, columns})};
  if (biased) parts.push_back(part("bias", {columns}));
  return {"fc", std::move(parts)};
}

template <long filters, long nr, long nc, int sy, int sx, int py, int px>
std::pair<std::string, std::vector<DlibPart>> describe(
    dlib::con_<filters, nr, nc, sy, sx, py, px>& layer) {
  const bool biased = !layer.bias_is_disabled();
  const long long outputs = layer.num_filters(), height = layer.nr(), width = layer.nc();
  const auto size = static_cast<long long>(layer.get_layer_params().size());
  const long long inputs = size / outputs - biased;
  std::vector<DlibPart> parts = {
      part("weight", {outputs, inputs / (height * width), height, width})};
  if (biased) parts.push_back(part("bias", {outputs}));
  return {"con", std::move(parts)};
}

template <dlib::layer_mode mode>
std::pair<std::string, std::vector<DlibPart>> describe(dlib::bn_<mode>& layer) {
  const auto channels = static_cast<long long>(layer.get_layer_params().size()) / 2;
  return {"bn", {part("weight", {channels}), part("bias", {channels})}};
}

/// Gathers the layers of a network, the last one first.
class Visitor {
 public:
  explicit Visitor(std::vector<DlibLayer>& layers) : layers_(layers) {}

  template <typename Details, typename Below, typename Enabled>
  void operator()(std::size_t, dlib::add_layer<Details, Below, Enabled>& layer) {
    Details& details = layer.layer_details();
    if (details.get_layer_params().size() == 0) return;
    auto [kind, parts] = describe(details);
    DlibStatistics statistics;
    if constexpr (requires { dlib_statistics(details); }) statistics = dlib_statistics(details);
    layers_.push_back({.name = std::move(kind),
                       .parameters = &details.get_layer_params(),
                       .gradient = &layer.get_parameter_gradient(),
                       .parts = std::move(parts),
                       .trained = dlib::get_learning_rate_multiplier(details) != 0,
                       .statistics = statistics});
  }

 private:
  std::vector<DlibLayer>& layers_;
};

}  // namespace dlib_parts

/// The layers of any dlib network, from its input on, for a DlibAdapter. The network must have its
/// sizes, by a forward pass or by being loaded (AdapterError otherwise), and must not move while
/// the layers are in use.
template <typename Net>
[[nodiscard]] std::vector<DlibLayer> dlib_layers(Net& net) {
  std::vector<DlibLayer> layers;
  dlib::visit_layers(net, dlib_parts::Visitor(layers));
  if (layers.empty()) {
    throw AdapterError("the dlib network has no parameters yet",
                       "let it compute once, net(sample), before the adapter is made");
  }
  std::ranges::reverse(layers);
  std::map<std::string, int> count;
  for (DlibLayer& layer : layers) layer.name += std::to_string(++count[layer.name]);
  return layers;
}

}  // namespace fast
